"""Incidents of software that neither rules nor other incidents name."""
