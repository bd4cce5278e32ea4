"""Health and metrics, on a port of their own.

The port may listen beyond loopback, because nothing it says names an object:
resources, states, counts and times only.
"""

from recorder.health.server import HealthServer

__all__ = ["HealthServer"]
