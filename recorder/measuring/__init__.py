"""Metrics around incidents: asked for once, and kept in the log as claims.

Outside intake, as notifications are: a metrics store that is slow or away
delays no recording.
"""
