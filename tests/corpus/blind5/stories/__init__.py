"""How each incident of the fifth set is played."""
