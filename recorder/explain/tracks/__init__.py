"""Tracks: signals of a node to what happened to it, what broke, who acted."""
