"""The recording's counters in Prometheus' words and units."""

from collections.abc import Iterator
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from recorder import __version__
from recorder.intake.progress import Progress
from recorder.intake.state import StreamState

__all__ = ["exposition"]


class _Recording(Collector):
    """Reads a `Progress` at each scrape; nothing is counted twice."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def collect(self) -> Iterator[Metric]:
        """Yield every metric."""
        yield InfoMetricFamily(
            "recorder_build", "Version information.", {"version": __version__}
        )
        yield from self._intake()
        yield from self._commits()
        yield from self._streams()

    def _intake(self) -> Iterator[Metric]:
        progress = self._progress
        frames = CounterMetricFamily(
            "recorder_frames",
            "Objects listed and watch frames taken.",
            labels=("resource", "type"),
        )
        for (resource, kind), count in sorted(progress.frames.items()):
            frames.add_metric((resource, kind), count)
        yield frames
        yield GaugeMetricFamily(
            "recorder_queue_bytes",
            "Bytes of documents waiting to be written.",
            progress.queue_bytes,
        )
        yield CounterMetricFamily(
            "recorder_refused",
            "Inputs that could not be parsed.",
            progress.refused,
        )
        gaps = CounterMetricFamily(
            "recorder_gaps", "Gaps opened.", labels=("reason",)
        )
        for reason, count in sorted(progress.gaps.items()):
            gaps.add_metric((reason,), count)
        yield gaps

    def _commits(self) -> Iterator[Metric]:
        progress = self._progress
        yield CounterMetricFamily(
            "recorder_entries", "Entries committed.", progress.entries
        )
        yield SummaryMetricFamily(
            "recorder_commit_seconds",
            "Duration of committed transactions.",
            count_value=progress.batches,
            sum_value=progress.commit_seconds,
        )
        yield CounterMetricFamily(
            "recorder_commit_failures",
            "Transactions that PostgreSQL rejected.",
            progress.failed_commits,
        )
        yield GaugeMetricFamily(
            "recorder_log_size",
            "Entries in the log.",
            progress.size,
        )
        if progress.database_bytes is not None:
            yield GaugeMetricFamily(
                "recorder_database_bytes",
                "Size of the database on disk.",
                progress.database_bytes,
            )
        yield GaugeMetricFamily(
            "recorder_writer",
            "1 while this process writes the log, 0 while it stands by.",
            int(progress.state in {"recording", "waiting"}),
        )

    def _streams(self) -> Iterator[Metric]:
        now = datetime.now(UTC)
        lag = GaugeMetricFamily(
            "recorder_source_lag_seconds",
            "Time since the resource was last confirmed complete.",
            labels=("source", "resource"),
        )
        state = GaugeMetricFamily(
            "recorder_source_state",
            "1 for the current state of the source.",
            labels=("source", "resource", "state"),
        )
        gaps = GaugeMetricFamily("recorder_open_gaps", "Open gaps.")
        streams = self._progress.streams
        for (source, resource), point in sorted(streams.items()):
            for each in StreamState:
                state.add_metric(
                    (source, resource, each.value), int(point.state is each)
                )
            if point.vouched_until is not None:
                age = (now - point.vouched_until).total_seconds()
                lag.add_metric((source, resource), max(age, 0.0))
        gaps.add_metric((), sum(p.gap is not None for p in streams.values()))
        yield lag
        yield state
        yield gaps


def exposition(progress: Progress) -> bytes:
    """Return all metrics in the text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Recording(progress))
    return generate_latest(registry)
