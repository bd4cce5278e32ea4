"""How each incident of the fourth set is played."""
