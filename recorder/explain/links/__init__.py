"""Links: what led to what, how strongly, and what excludes it."""
