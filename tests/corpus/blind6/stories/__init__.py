"""How each incident of the sixth set is played."""
