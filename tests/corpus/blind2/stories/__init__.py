"""How each incident of the second set is played."""
