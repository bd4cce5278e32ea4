"""Files with audit records: mutated exports, packed and cut."""

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

from recorder.facts.classify import is_audit_record
from recorder.model.zstd import compress
from recorder.sources.audit.exports import Record, found_in
from recorder.sources.files import (
    CutError,
    Member,
    UnreadableError,
    documents,
    members,
)
from tests.fuzz.mutation import mutated
from tests.fuzz.tapes import folder

__all__ = ["check_export", "make_export"]

CASES = Path(__file__).parents[1] / "audit/cases"
PACKED = (gzip.compress, bz2.compress, lzma.compress, compress)


@cache
def _seeds() -> tuple[bytes, ...]:
    files = (path for path in sorted(CASES.rglob("*")) if path.is_file())
    return tuple(path.read_bytes() for path in files)


def make_export(chance: random.Random) -> bytes:
    raw = chance.choice(_seeds())
    if chance.random() < 0.5:
        raw += chance.choice((b"", b"\n", b"\0")) + chance.choice(_seeds())
    if chance.random() < 0.8:
        raw = mutated(raw, chance)
    if chance.random() < 0.3:
        raw = chance.choice(PACKED)(raw)
        if chance.random() < 0.5:
            raw = mutated(raw, chance)
    return raw


def _in_blocks(member: Member, size: int) -> Callable[[int], bytes]:
    return lambda _: member.read(size)


def check_export(raw: bytes, chance: random.Random) -> list[str]:
    """Check that a file is read to its end, in order, and what of it is.

    Returns what could not be read.
    """
    path = folder() / "export"
    path.write_bytes(raw)
    refused: list[str] = []
    size = chance.choice((1 << 20, 1 << 20, 97))
    try:
        for member in members(path):
            end = line = 0
            for document in documents(_in_blocks(member, size)):
                assert document.end >= end, "the order of the file"
                assert document.last_line >= document.line >= line
                end, line = document.end, document.line
                for found in found_in(document):
                    if isinstance(found, Record):
                        assert is_audit_record(found.raw)
                    else:
                        refused.append(type(found).__name__)
    except (CutError, UnreadableError) as exc:
        refused.append(type(exc).__name__)
    return refused
