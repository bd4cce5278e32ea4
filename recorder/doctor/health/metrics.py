"""The recording's counters as Prometheus metrics."""

from collections.abc import Iterator
from datetime import UTC, datetime

from prometheus_client import (
    CollectorRegistry,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from recorder import __version__
from recorder.intake.progress import (
    COMMIT_BOUNDS,
    ClaimCounts,
    Progress,
    Received,
)
from recorder.intake.state import StreamState
from recorder.model.observation import AUDITED, RECORDER


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
        if self._progress.received is not None:
            yield from _received(self._progress.received)
        if self._progress.claims is not None:
            yield from _claims(self._progress.claims)

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
        lengths = CounterMetricFamily(
            "recorder_gap_seconds",
            "Length of gaps that ended and in which something may be missing.",
            labels=("resource",),
        )
        for resource, seconds in sorted(progress.gap_seconds.items()):
            lengths.add_metric((resource,), seconds)
        yield lengths

    def _commits(self) -> Iterator[Metric]:
        progress = self._progress
        yield CounterMetricFamily(
            "recorder_entries", "Entries committed.", progress.entries
        )
        buckets = zip(COMMIT_BOUNDS, progress.commit_buckets, strict=True)
        yield HistogramMetricFamily(
            "recorder_commit_seconds",
            "Duration of committed transactions.",
            buckets=[
                *((str(bound), count) for bound, count in buckets),
                ("+Inf", progress.batches),
            ],
            sum_value=progress.commit_seconds,
        )
        if progress.committed_at is not None:
            yield GaugeMetricFamily(
                "recorder_last_commit_timestamp_seconds",
                "When a transaction was last committed, as a Unix time.",
                progress.committed_at.timestamp(),
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
        yield CounterMetricFamily(
            "recorder_checkpoint_failures",
            "Checkpoints that could not be made, or not written to a place.",
            progress.checkpoint_failures,
        )
        if progress.checkpointed_at is not None:
            yield GaugeMetricFamily(
                "recorder_checkpoint_timestamp_seconds",
                "When every place last got a checkpoint, as a Unix time.",
                progress.checkpointed_at.timestamp(),
            )
        yield from self._retention()
        yield GaugeMetricFamily(
            "recorder_writer",
            "1 while this process writes the log, 0 while it stands by.",
            int(progress.state in {"recording", "waiting"}),
        )

    def _retention(self) -> Iterator[Metric]:
        progress = self._progress
        if progress.budget_bytes is not None:
            yield GaugeMetricFamily(
                "recorder_database_budget_bytes",
                "Size of the database above which the oldest days are"
                " dropped.",
                progress.budget_bytes,
            )
        if progress.retained_at is not None:
            yield GaugeMetricFamily(
                "recorder_retention_timestamp_seconds",
                "When a run of retention last succeeded, of those that the"
                " recorder makes itself, as a Unix time.",
                progress.retained_at.timestamp(),
            )
        if progress.archived_until is not None:
            yield GaugeMetricFamily(
                "recorder_archived_until_timestamp_seconds",
                "End of the last archived day as a Unix time, by any process.",
                progress.archived_until.timestamp(),
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
            if source in {RECORDER, AUDITED}:
                continue  # its own entries: no stream is followed
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


def _received(received: Received) -> Iterator[Metric]:
    requests = CounterMetricFamily(
        "recorder_audit_webhook_requests",
        "Batches that API servers sent, by the status of the answer.",
        labels=("code",),
    )
    for code, count in sorted(received.requests.items()):
        requests.add_metric((str(code),), count)
    yield requests
    yield CounterMetricFamily(
        "recorder_audit_webhook_records",
        "Records of batches that are in the log, repetitions included.",
        received.records,
    )
    yield GaugeMetricFamily(
        "recorder_audit_webhook_held_bytes",
        "Bytes of batches that are not answered yet.",
        received.held_bytes,
    )
    yield CounterMetricFamily(
        "recorder_audit_generated_records",
        "Records that API servers counted since the recorder started.",
        received.generated,
    )
    yield CounterMetricFamily(
        "recorder_audit_lost_records",
        "Records that API servers counted as dropped since then.",
        received.lost,
    )
    yield GaugeMetricFamily(
        "recorder_audit_counters_ok",
        "0 if the counters of API servers cannot be read.",
        int(received.uncounted is None),
    )
    yield GaugeMetricFamily(
        "recorder_audit_missing_logs",
        "Followed audit logs that are missing or cannot be read.",
        len(received.unread),
    )
    yield GaugeMetricFamily(
        "recorder_audit_webhook_certificates_ok",
        "0 if certificates were renewed and cannot be read.",
        int(received.trouble is None),
    )
    if received.lag_seconds is not None:
        yield GaugeMetricFamily(
            "recorder_audit_webhook_lag_seconds",
            "Age of the last record when it came; negative if the clock of"
            " the API server is ahead.",
            received.lag_seconds,
        )


def _claims(counts: ClaimCounts) -> Iterator[Metric]:
    accepted = CounterMetricFamily(
        "recorder_claims_accepted",
        "Claims of accepted requests, repetitions included, by how they were"
        " read.",
        labels=("converter",),
    )
    for name, count in sorted(counts.accepted.items()):
        accepted.add_metric((name,), count)
    yield accepted
    refused = CounterMetricFamily(
        "recorder_claims_refused",
        "Requests with claims that were not accepted, by the reason.",
        labels=("reason",),
    )
    for reason, count in sorted(counts.refused.items()):
        refused.add_metric((reason,), count)
    yield refused


def exposition(progress: Progress) -> bytes:
    """Return all metrics in the text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Recording(progress))
    ProcessCollector(registry=registry)
    return generate_latest(registry)
