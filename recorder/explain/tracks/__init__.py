"""Tracks: from signals of a node to what happened, what broke, who acted."""
