"""The first line of a tape: which recording it is.

Unknown fields are kept, so that an older version can cut or copy a tape
without losing what a newer one wrote.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Any

import msgspec

from recorder.sources.tape.wire import (
    LineError,
    checked_utf8,
    quoted,
    written_time,
)

FORMAT = "recorder/1"
"""The value of ``tape`` in the header of every tape of this format."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class TapeCut(msgspec.Struct, frozen=True, kw_only=True):
    """The log that a tape was cut from, and the version that cut it."""

    log: int
    size: int
    """How many entries the log had."""

    since: datetime | None = None
    until: datetime | None = None
    nodes: tuple[str, ...] = ()
    """The nodes that it was cut for; empty for everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeHeader:
    """Which recording a tape is, and when it began."""

    cluster: str
    cluster_uid: str
    """UID of the cluster's kube-system namespace."""

    kubernetes: str
    """Version of the API server, as it writes it."""

    started_at: datetime
    tape_uid: str | None = None
    """Identity of the tape; if it has none, the hash of the file is used."""

    redaction_key_id: str | None = None
    """The key of the digests on the tape."""

    cut: TapeCut | None = None
    """What it was cut from; None for a recording of everything."""

    unknown: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    """Fields of a later version, unchanged."""


class _Header(msgspec.Struct):
    """Our fields, as they are written."""

    tape: str
    cluster: str
    cluster_uid: str
    kubernetes: str
    started_at: Annotated[datetime, msgspec.Meta(tz=True)]
    tape_uid: str | None = None
    redaction_key_id: str | None = None
    cut: TapeCut | None = None


class _Version(msgspec.Struct):
    """Only what identifies a tape, and its version."""

    tape: str


_decode = msgspec.json.Decoder(_Header).decode
_decode_version = msgspec.json.Decoder(_Version).decode


def parse_header(line: bytes) -> TapeHeader:
    """Parse the first line of a tape.

    Raises:
        LineError: the line is not a header of this format.
    """
    checked_utf8(line)
    _check_version(line)
    try:
        ours = _decode(line)
        started_at = ours.started_at.astimezone(UTC)
        fields: dict[str, Any] = msgspec.json.decode(line)
    except (msgspec.DecodeError, OverflowError, RecursionError) as exc:
        msg = f"the header of the tape cannot be used: {exc}"
        raise LineError(msg) from exc
    return TapeHeader(
        cluster=ours.cluster,
        cluster_uid=ours.cluster_uid,
        kubernetes=ours.kubernetes,
        started_at=started_at,
        tape_uid=ours.tape_uid,
        redaction_key_id=ours.redaction_key_id,
        cut=ours.cut,
        unknown={
            name: value
            for name, value in fields.items()
            if name not in _Header.__struct_fields__
        },
    )


def _check_version(line: bytes) -> None:
    try:
        version = _decode_version(line).tape
    except (msgspec.DecodeError, RecursionError) as exc:
        msg = (
            'the first line is not the header of a tape, {"tape": '
            f'"{FORMAT}", …}}: {exc}'
        )
        raise LineError(msg) from exc
    if version != FORMAT:
        msg = (
            f"the tape is of format {quoted(version)}, this version reads "
            f'"{FORMAT}": use the version of recorder that wrote it'
        )
        raise LineError(msg)


def header_line(header: TapeHeader) -> bytes:
    """Write the first line of a tape, its newline included."""
    fields: dict[str, Any] = {
        "tape": FORMAT,
        "cluster": header.cluster,
        "cluster_uid": header.cluster_uid,
        "kubernetes": header.kubernetes,
        "started_at": written_time(header.started_at),
    }
    if header.tape_uid is not None:
        fields["tape_uid"] = header.tape_uid
    if header.redaction_key_id is not None:
        fields["redaction_key_id"] = header.redaction_key_id
    if header.cut is not None:
        fields["cut"] = _cut_fields(header.cut)
    return msgspec.json.encode(fields | dict(header.unknown)) + b"\n"


def _cut_fields(cut: TapeCut) -> dict[str, Any]:
    fields: dict[str, Any] = {"log": cut.log, "size": cut.size}
    if cut.since is not None:
        fields["since"] = written_time(cut.since)
    if cut.until is not None:
        fields["until"] = written_time(cut.until)
    if cut.nodes:
        fields["nodes"] = list(cut.nodes)
    return fields
