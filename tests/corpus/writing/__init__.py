"""Writes tapes by hand, where a real cluster would take too long."""
