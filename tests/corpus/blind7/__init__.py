"""A seventh set of incidents: which jobs were hit, and how."""
