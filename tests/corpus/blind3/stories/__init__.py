"""How each incident of the third set is played."""
