"""An eighth set of incidents: gangs, their owners, and gaps."""
