"""A sixth set of incidents of software that nothing else names."""
