"""Watch: list and watch every recorded resource that a cluster serves.

The only package that speaks to Kubernetes. It lists and watches each resource
and puts the received bytes, unchanged and in order, into a sink. It keeps no
state that matters after a crash: intake decides, and commits, what is new,
what is a gap and where to resume.
"""

from recorder.sources.watch.client import ClusterClient, ClusterIdentity
from recorder.sources.watch.clock import Clock
from recorder.sources.watch.selection import Pattern, Selection
from recorder.sources.watch.settings import WatchSettings
from recorder.sources.watch.source import WatchSource

__all__ = [
    "Clock",
    "ClusterClient",
    "ClusterIdentity",
    "Pattern",
    "Selection",
    "WatchSettings",
    "WatchSource",
]
