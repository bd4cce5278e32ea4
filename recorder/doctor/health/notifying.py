"""The counters of notifications as Prometheus metrics."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from prometheus_client import (
    CollectorRegistry,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from recorder import __version__
from recorder.notification.ports import Tally
from recorder.notification.sending import NotifyProgress


class _Notifying(Collector):
    """Reads a `NotifyProgress` at each scrape."""

    def __init__(self, progress: NotifyProgress) -> None:
        self._progress = progress

    def collect(self) -> Iterator[Metric]:
        """Yield every metric."""
        yield InfoMetricFamily(
            "recorder_build", "Version information.", {"version": __version__}
        )
        counters = self._progress.counters
        yield _counted(
            "recorder_notifications_posted",
            "Messages that a receiver took.",
            counters.posted,
        )
        yield _counted(
            "recorder_notifications_failed",
            "Messages that a receiver refused, or that were given up.",
            counters.failed,
        )
        yield _counted(
            "recorder_notifications_retried",
            "Attempts after which a message is posted again.",
            counters.retried,
        )
        yield from self._kept()
        judged = GaugeMetricFamily(
            "recorder_notifications_judged_timestamp_seconds",
            "When a log was last judged for notifications, as a Unix time.",
            labels=("log",),
        )
        for log, at in sorted(self._progress.judged_at.items()):
            judged.add_metric((str(log),), at.timestamp())
        yield judged

    def _kept(self) -> Iterator[Metric]:
        now = datetime.now(UTC)
        yield self._gauge(
            "recorder_notifications_waiting",
            "Messages in the outbox that are not posted yet.",
            lambda tally: 0 if tally is None else tally.waiting,
        )
        yield self._gauge(
            "recorder_notifications_oldest_waiting_seconds",
            "Age of the oldest of them; 0 if there is none.",
            lambda tally: (
                0
                if tally is None or tally.oldest_waiting is None
                else (now - tally.oldest_waiting).total_seconds()
            ),
        )
        yield self._gauge(
            "recorder_notifications_posted_timestamp_seconds",
            "When a message was last posted, as a Unix time; 0 if never.",
            lambda tally: (
                0
                if tally is None or tally.last_posted is None
                else tally.last_posted.timestamp()
            ),
        )

    def _gauge(
        self, name: str, says: str, value: Callable[[Tally | None], float]
    ) -> Metric:
        gauge = GaugeMetricFamily(name, says, labels=("rule",))
        for rule in self._progress.rules:
            gauge.add_metric((rule,), value(self._progress.tallies.get(rule)))
        return gauge


def _counted(name: str, says: str, counts: Mapping[str, int]) -> Metric:
    counter = CounterMetricFamily(name, says, labels=("rule",))
    for rule, count in sorted(counts.items()):
        counter.add_metric((rule,), count)
    return counter


def notify_exposition(progress: NotifyProgress) -> bytes:
    """Return all metrics in the text format."""
    registry = CollectorRegistry()
    registry.register(_Notifying(progress))
    ProcessCollector(registry=registry)
    return generate_latest(registry)
