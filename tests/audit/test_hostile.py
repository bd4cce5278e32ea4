"""Ten thousand hostile records stop nothing."""

import asyncio
import random
from pathlib import Path

import msgspec
import orjson

from recorder.facts.classify import is_audit_record
from recorder.intake.committing import Policy
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.entry import Operation
from recorder.model.observation import AUDIT
from recorder.sources.audit import AuditImport
from tests.audit.receiving import Receiving, a_record
from tests.fuzz.documents import make_posted
from tests.support.memory_log import MemoryLog, MemoryWriter

LINES = 9_000
ITEMS = 1_000
LAST = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", **a_record("last")}


def hostile(count: int, seed: int) -> list[bytes]:
    chance = random.Random(seed)
    made = (make_posted(chance) for _ in range(count))
    return [raw.replace(b"\n", b" ") for raw in made]


def is_json(raw: bytes) -> bool:
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)
        raw.decode()
    except (ValueError, RecursionError):
        return False
    return True


async def test_every_line_of_a_hostile_file_is_an_entry_or_refused(
    tmp_path: Path,
) -> None:
    path, log = tmp_path / "audit.log", MemoryLog()
    path.write_bytes(
        b"".join(raw + b"\n" for raw in hostile(LINES, 1))
        + orjson.dumps(LAST)
        + b"\n"
    )
    recording = Recording(
        MemoryWriter(log),
        Redaction(RedactionRules(), b"0" * 32),
        policy=Policy(),
    )
    source = AuditImport([path])
    await recording.run({AUDIT: source}, asyncio.Event())

    (file,) = source.files
    taken = log.drafts(Operation.AUDIT)
    assert len(taken) > LINES / 20  # the others say the same as these
    assert all(is_audit_record(draft.raw) for draft in taken)
    assert orjson.loads(taken[-1].raw) == LAST
    refused = log.drafts(Operation.REFUSED)
    repeated = recording.progress.repeated
    assert file.records == len(taken) + len(refused) + repeated
    assert file.records + file.refused + file.cut > LINES / 2
    (gap,) = log.drafts(Operation.GAP_CLOSED)
    assert b"audit.log: lines" in gap.raw


async def test_hostile_items_of_batches_are_taken(tmp_path: Path) -> None:
    one = Receiving(tmp_path, MemoryLog())
    items = [raw for raw in hostile(ITEMS, 2) if is_json(raw)]
    head = b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":['
    async with one.listening(), one.recording():
        for first in range(0, len(items), 100):
            body = head + b",".join(items[first : first + 100]) + b"]}"
            status, says, _ = await one.send(body)
            assert status == 200, says

    taken = one.log.drafts(Operation.AUDIT, Operation.REFUSED)
    assert len(taken) > ITEMS / 8
