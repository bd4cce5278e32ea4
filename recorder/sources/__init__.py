"""Adapters in: each source yields observations and knows where to resume."""
