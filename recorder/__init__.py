"""Recorder: the flight recorder of a Kubernetes fleet."""

__version__ = "0.1.0"
