"""Observations and tapes with boring contents."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    EpochBegan,
    InputRefused,
    ListPage,
    Observation,
    Polled,
    RequestFailed,
    StreamClosed,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.tape import (
    TapeError,
    TapeHeader,
    TapeReader,
    TapeWriter,
)
from recorder.sources.tape.reader import LINE_BYTES_MAX

PODS = Resource("", "v1", "pods")
JOBS = Resource("batch", "v1", "jobs")
BEGAN = datetime(2026, 11, 21, 3, 18, tzinfo=UTC)
HEADER = TapeHeader(
    cluster="demo",
    cluster_uid="8a5d5e0e-0000-4000-8000-000000000001",
    kubernetes="v1.36.3",
    started_at=BEGAN,
)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def a_pod(number: int, filling: int = 0) -> bytes:
    return (
        b'{"metadata":{"name":"pod-%d","uid":"u-%d","resourceVersion":"%d"}'
        b',"spec":{"filling":"%b"}}'
    ) % (number, number, number, b"x" * filling)


def a_frame(number: int, filling: int = 0) -> WatchFrame:
    return WatchFrame(
        observed_at=at(number),
        resource=PODS,
        type="MODIFIED",
        object=a_pod(number, filling),
    )


def one_of_each() -> list[Observation]:
    """One observation of each kind that has a frame."""
    return [
        ListPage(
            observed_at=at(0),
            resource=PODS,
            resource_version="7",
            items=[a_pod(1), a_pod(2)],
            more=True,
        ),
        ListPage(
            observed_at=at(0.5),
            resource=PODS,
            resource_version="7",
            items=[],
            more=False,
            kind="Pod",
            made=True,
        ),
        a_frame(1),
        StreamClosed(observed_at=at(2), resource=JOBS, reason="410"),
        AuditRecorded(observed_at=at(3), event=b'{"verb":"get"}'),
        CloudEventPosted(observed_at=at(4), event=b'{"id":"b"}'),
        Polled(
            observed_at=at(5),
            resource="slurm/jobs",
            items=[b'{"job_id":1}'],
        ),
        InputRefused(
            observed_at=at(6),
            resource=PODS,
            head=b"\xff\x00{",
            sha256="0" * 64,
            length=200_000_000,
            reason="no JSON",
        ),
        InputRefused(
            observed_at=at(7),
            resource=None,
            head=b"",
            sha256="f" * 64,
            length=0,
            reason="",
            source="audit",
        ),
        RequestFailed(
            observed_at=at(8), resource=JOBS, status=403, reason="forbidden"
        ),
        EpochBegan(observed_at=at(9), reason="etcd was restored"),
    ]


def write(
    path: Path,
    observations: Sequence[Observation],
    header: TapeHeader = HEADER,
) -> Path:
    with TapeWriter(path, header, overwrite=True) as tape:
        tape.write(observations)
    return path


def read(path: Path, from_frame: int = 0) -> list[Observation]:
    with TapeReader(path) as tape:
        return [seen for _, seen in tape.frames(from_frame)]


def read_up_to_the_trouble(
    path: Path, line_bytes_max: int = LINE_BYTES_MAX
) -> tuple[list[Observation], TapeError | None]:
    """Return what a reader returns of a tape, and what it then raised."""
    seen: list[Observation] = []
    try:
        with TapeReader(path, line_bytes_max=line_bytes_max) as tape:
            seen.extend(observation for _, observation in tape.frames())
    except TapeError as exc:
        return seen, exc
    return seen, None
