"""A fifth set of incidents of software that nothing else names."""
