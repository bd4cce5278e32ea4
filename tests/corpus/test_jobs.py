"""Each job of the live and blind incidents: its end, state, author, preemptor.

`jobs_expected.py` was written from the truths. When it was asked first, 64 of
71 were right; of the others, four jobs that some members ran of were called
degraded, as they are, two authors were named with the node alone, and one
preemptor was named by its name and not by its UID.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recorder.explain.ending import Ending
from tests.corpus.conftest import Corpus
from tests.corpus.jobs_expected import EXPECTED, Expected
from tests.corpus.live.asking import LIVE
from tests.corpus.logs import play_tapes, reading_of
from tests.corpus.test_endings import asked
from tests.support.filled import filled_database
from tests.support.postgres import DatabaseServer
from tests.support.sampling import sampled

HERE = Path(__file__).parent
FOLDERS = {"b": HERE / "blind", "s": LIVE, "t": HERE / "odd"}
"""Of tapes, by the first letter of their names."""

TAPES = sampled(
    "tapes of jobs", dict.fromkeys(one.tape for one in EXPECTED), 24
)


@pytest.fixture(scope="module")
def played(embedded_server: DatabaseServer) -> Iterator[Corpus]:
    logs: dict[str, int] = {}
    tapes = {
        tape: FOLDERS[tape[0]] / f"{tape}.tape.jsonl.zst" for tape in TAPES
    }

    async def fill(writer: str) -> None:
        logs.update(await play_tapes(writer, tapes))

    with filled_database(embedded_server, fill) as database:
        yield Corpus(database, logs)


@pytest.mark.parametrize(
    "one",
    [one for one in EXPECTED if one.tape in TAPES],
    ids=lambda one: f"{one.tape} {one.job} {one.node}",
)
async def test_a_job_is_explained_as_it_was(
    played: Corpus, one: Expected
) -> None:
    async with reading_of(
        played.database.dsn("reader"), played.logs[one.tape]
    ) as reading:
        found = await asked(reading, one.job)
        audited = any(s.source == "audit" for s in reading.streams)
    here = [e for e in found.endings if one.node in e.nodes]
    wrong = list(_wrong(one, here, audited=audited))
    if found.state not in one.states.split():
        wrong.append(f"state {found.state}")
    assert not wrong


def _wrong(
    one: Expected, here: list[Ending], *, audited: bool
) -> Iterator[str]:
    right = [e for e in here if e.ended_by in one.ended_by.split()]
    if one.ended_by == "-":
        loud = {"node-failure", "drain", "eviction"}
        yield from (e.sentence for e in here if e.ended_by in loud)
        return
    if not right:
        yield f"ended by {[e.ended_by for e in here]}"
        return
    named = {e.actor.name for e in right if e.actor is not None}
    named |= {
        e.verdict.decision.actor.name
        for e in right
        if one.author is not None
        and e.verdict is not None
        and e.verdict.decision is not None
    }
    named.discard(None)
    if one.author is None:
        yield from (f"author {name}" for name in named)
    elif not any(one.author in (name or "") for name in named) and (
        audited or named
    ):
        yield f"author {named or None}, not {one.author}"
    taken = {
        f"{e.preemptor.kind} {e.preemptor.namespace}/{e.preemptor.name}"
        for e in right
        if e.preemptor is not None
    }
    if taken != ({one.preemptor} if one.preemptor else set()):
        yield f"preemptor {taken or None}, not {one.preemptor}"
