"""Each audit record once, whichever way it comes, across restarts."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import orjson
import pytest

from recorder.intake import known_requests
from recorder.intake.committing import Policy
from recorder.intake.ports import Known, Sink
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.entry import Operation
from recorder.model.errors import LogUnavailableError
from recorder.model.observation import AUDIT, AuditRecorded, PlaceReached
from tests.audit.receiving import a_record
from tests.support.builders import at
from tests.support.memory_log import MemoryLog, MemoryWriter

POLICY = Policy(
    linger=timedelta(milliseconds=1),
    idle=timedelta(milliseconds=20),
    retry_max=timedelta(milliseconds=1),
)


class Puts:
    """A source that puts records, a few at once."""

    finite = True

    def __init__(self, *calls: list[bytes]) -> None:
        self._calls = calls

    async def run(self, sink: Sink, known: Known) -> None:  # noqa: ARG002
        for records in self._calls:
            place = PlaceReached(
                observed_at=at(), source=AUDIT, stream="x", place="1"
            )
            observed = [
                AuditRecorded(observed_at=at(), event=raw) for raw in records
            ]
            await sink.put([*observed, place])


async def record(
    log: MemoryLog, *calls: list[bytes], writer: MemoryWriter | None = None
) -> None:
    recording = Recording(
        writer or MemoryWriter(log),
        Redaction(RedactionRules(), b"0" * 32),
        policy=POLICY,
    )
    await recording.run({AUDIT: Puts(*calls)}, asyncio.Event())


def ids(log: MemoryLog) -> list[str]:
    drafts = log.drafts(Operation.AUDIT)
    return [orjson.loads(draft.raw)["auditID"] for draft in drafts]


def line(name: str, **more: object) -> bytes:
    """A record as it is in a file."""
    kind = {"kind": "Event", "apiVersion": "audit.k8s.io/v1"}
    return orjson.dumps({**kind, **a_record(name), **more})


def item(name: str, **more: object) -> bytes:
    """The same as an item of a batch."""
    return orjson.dumps({**a_record(name), **more})


async def test_a_record_is_known_whichever_way_it_came() -> None:
    log = MemoryLog()

    await record(
        log, [line("a"), item("b")], [item("a"), line("b"), item("c")]
    )

    assert ids(log) == ["a", "b", "c"]


async def test_a_record_is_known_after_a_restart() -> None:
    log = MemoryLog()

    await record(log, [line("a"), line("b")])
    await record(log, [item("b"), item("c")], [item("a")])

    assert ids(log) == ["a", "b", "c"]


async def test_a_record_is_known_after_it_was_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(known_requests, "REMEMBERED_MAX", 1)
    log = MemoryLog()
    await record(log, [line("a")])

    await record(log, [item("b")], [item("c")], [item("a")])

    assert ids(log) == ["a", "b", "c"]


async def test_two_requests_of_one_id_are_two_records() -> None:
    """The ID of a request is its client's to choose."""
    log = MemoryLog()

    await record(
        log,
        [line("a")],
        [line("a", verb="patch"), line("a", stage="RequestReceived")],
    )

    assert ids(log) == ["a", "a", "a"]


async def test_of_a_truncated_record_and_its_whole_nothing_is_lost() -> None:
    truncated = {"annotations": {"audit.k8s.io/truncated": "true"}}
    body = {"requestObject": {"kind": "Pod"}}
    log = MemoryLog()

    await record(log, [line("a", **body)], [item("a", **truncated)])
    await record(log, [item("a", **truncated)])
    assert ids(log) == ["a"]

    await record(log, [item("b", **truncated)], [line("b", **body)])
    assert ids(log) == ["a", "b", "b"]


async def test_a_log_that_cannot_be_asked_is_waited_for() -> None:
    class Away(MemoryWriter):
        failures = 3

        async def requests(self, moments: Sequence[datetime]) -> list[bytes]:
            assert len(moments) == 1
            if self.failures:
                self.failures -= 1
                msg = "the log is away"
                raise LogUnavailableError(msg)
            return [line("a")]

    log = MemoryLog()
    await record(log, [line("x")])

    await record(log, [item("a"), item("b")], writer=Away(log))

    assert ids(log) == ["x", "b"]


async def test_the_log_is_not_asked_of_what_is_later_than_all_it_has() -> None:
    class Silent(MemoryWriter):
        async def requests(self, moments: Sequence[datetime]) -> list[bytes]:
            raise AssertionError(moments)

    log, later = MemoryLog(), "2026-11-21T03:00:00.000002Z"
    await record(log, [line("a")])

    new = item("b", requestReceivedTimestamp=later)
    await record(log, [new], [new], writer=Silent(log))

    assert ids(log) == ["a", "b"]
