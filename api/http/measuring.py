"""The metrics of the server, as Prometheus reads them.

Labeled by question, the top-level field of the query: the schema has a fixed
number of them. No label names a node, an object or a caller.
"""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
)

from recorder import __version__

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds: from a small page to the limit for an answer."""


class Measures:
    """The counters of one server; they start at zero with it."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        Info("recorder_build", "Version information.", registry=registry).info(
            {"version": __version__}
        )
        self._requests = Counter(
            "recorder_api_requests",
            "Requests answered, by question and HTTP status: 400 for a query"
            " that was refused, whatever status its client got.",
            ("question", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "recorder_api_request_seconds",
            "Time until an answer began.",
            ("question",),
            registry=registry,
            buckets=BOUNDS,
        )
        self.subscribers = Gauge(
            "recorder_api_subscribers",
            "Subscriptions that are open.",
            registry=registry,
        )
        ProcessCollector(registry=registry)

    def answered(self, question: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._requests.labels(question, str(status)).inc()
        self._seconds.labels(question).observe(seconds)

    def exposition(self) -> bytes:
        """Return all metrics in the text format."""
        return generate_latest(self._registry)
