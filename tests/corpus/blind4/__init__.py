"""A fourth set of incidents of software that nothing else names."""
