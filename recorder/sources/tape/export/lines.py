"""Single entries of a log, in the form that cutting a tape needs."""

from base64 import b64decode
from collections.abc import Iterator, Sequence
from datetime import datetime

import orjson

from recorder.model.entry import Entry, Operation
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    EpochBegan,
    HistoryWalked,
    InputRefused,
    Observation,
    Polled,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.tape.export.stream import (
    REWOUND,
    UNDECODABLE,
    CutStream,
    document_of,
)

FRAMES = {
    Operation.ADDED: "ADDED",
    Operation.MODIFIED: "MODIFIED",
    Operation.DELETED: "DELETED",
}
"""Types of watch frames."""


class Held:
    """The recorder's own entries, until their gaps are known.

    The proofs for their streams come before them on the tape.
    """

    def __init__(self, line: Entry) -> None:
        self._incident_seen = _incident(line)
        self._proofs: list[Observation] = []
        self._rewound: list[tuple[CutStream, Entry]] = []

    def precede(
        self, stream: CutStream, line: Entry, proofs: Sequence[Observation]
    ) -> None:
        """Add a gap that it opened, and the proofs until then."""
        self._proofs.extend(proofs)
        if isinstance(self._incident_seen, EpochBegan):
            self._rewound.append((stream, line))

    def frames(self) -> Iterator[Observation]:
        """Yield the proofs, and the held observation."""
        yield from self._proofs
        yield self._incident_seen
        for stream, line in self._rewound:
            stream.forget()
            stream.gap = stream.gap_opened_at(line.entry.position)
            stream.listed.clear()


def number(version: str) -> int:
    """Return a version as a number, for comparison."""
    return int(version) if version.isdecimal() else -1


def thing_of(line: Entry) -> str:
    """Return the object of an entry: its UID, else its name."""
    identity = line.identity
    if identity is None:
        return f"entry {line.entry.position}"
    return identity.uid or f"{identity.namespace}/{identity.name}"


def kind_of(line: Entry) -> str | None:
    """Return the kind, if it is not the plural in its place."""
    if line.identity is None:
        return None
    plural = Resource.parse(line.resource or "").plural
    return None if line.identity.kind == plural else line.identity.kind


def recovered(line: Entry) -> WatchFrame:
    """Make the frame of a recovered version, or of a recovered deletion."""
    is_gone = line.operation is Operation.ABSENT
    return WatchFrame(
        observed_at=line.observed_at,
        resource=Resource.parse(line.resource or ""),
        type="DELETED" if is_gone else "MODIFIED",
        object=_naming(line) if is_gone else line.raw,
        source=line.source,
        recovered=True,
        written_by=line.occurred_at,
    )


def walked(line: Entry) -> HistoryWalked | None:
    """Make what the end of a gap has of a walk, if anything."""
    said = document_of(line.raw)
    if "walked" not in said:
        return None
    return HistoryWalked(
        observed_at=line.observed_at,
        resource=Resource.parse(line.resource or ""),
        since=said["walked"]["since"],
        until=said["resource_version_after"],
        proved=said["walked"]["proved"],
        possible=said["possible"],
        resumes=said["walked"].get("resumes", False),
        source=line.source,
    )


def _naming(line: Entry) -> bytes:
    """Return a document with the name and the version of a deleted object."""
    identity = line.identity
    assert identity is not None, "an object was absent"
    metadata = {
        "name": identity.name,
        "namespace": identity.namespace,
        "uid": identity.uid,
        "resourceVersion": line.resource_version,
    }
    return orjson.dumps({"metadata": {k: v for k, v in metadata.items() if v}})


def page_of(line: Entry) -> tuple[str | None, datetime]:
    """Return which page of a list showed an object."""
    return line.resource, line.observed_at


def is_of_list(line: Entry | None, stream: CutStream) -> bool:
    """Return whether an entry follows from a list that lacked Events."""
    return (
        line is not None
        and line.resource == stream.stream.resource
        and line.operation in {Operation.ABSENT, Operation.GAP_OPENED}
    )


def follows(line: Entry | None) -> bool:
    """Return whether an entry follows from the held incident."""
    return (
        line is not None
        and line.operation is Operation.GAP_OPENED
        and document_of(line.raw)["reason"] in {REWOUND, UNDECODABLE}
    )


def _incident(line: Entry) -> EpochBegan | InputRefused:
    said = document_of(line.raw)
    if line.operation is Operation.EPOCH_BEGAN:
        return EpochBegan(
            observed_at=line.observed_at,
            reason=said["reason"],
            source=line.source,
        )
    return InputRefused(
        observed_at=line.observed_at,
        resource=Resource.parse(line.resource) if line.resource else None,
        head=b64decode(said["bytes_base64"]),
        sha256=said["sha256"],
        length=said["length"],
        reason=said["reason"],
        source=line.source,
    )


def posted(line: Entry) -> Observation:
    """Make the observation that was posted, or that a poll returned."""
    raw = line.raw
    match line.operation:
        case Operation.AUDIT:
            return AuditRecorded(
                observed_at=line.observed_at, event=raw, source=line.source
            )
        case Operation.CLOUDEVENT:
            claim = line.identity
            return CloudEventPosted(
                observed_at=line.observed_at,
                event=raw,
                source=line.source,
                key=None if claim is None else claim.uid,
            )
        case _:
            return Polled(
                observed_at=line.observed_at,
                resource=line.resource or "",
                items=[raw],
                source=line.source,
            )
