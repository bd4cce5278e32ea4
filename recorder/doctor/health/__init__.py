"""Health and metrics, on a port of their own.

The port may listen beyond loopback, because its responses name no objects:
only resources, states, counts and times.
"""

from recorder.doctor.health.server import HealthServer

__all__ = ["HealthServer"]
