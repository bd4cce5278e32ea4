"""Blind incidents are explained no worse than when they were scored.

They were scored once, by the answers of that day (`blind/README.md`).
"""

from pathlib import Path

import msgspec

from tests.conftest import TEMPLATE
from tests.corpus.blind.truths import TRUTHS
from tests.corpus.live.asking import Graded, ask_live, live_names, play_live
from tests.corpus.live_judge import Grade
from tests.support.postgres import DatabaseServer, fresh_database

BLIND = Path(__file__).with_name("blind")

RIGHT = frozenset({Grade.RIGHT, Grade.TIMID})

Answered = tuple[str, str, str]
"""An incident, a command and a node."""


class Scored(msgspec.Struct, frozen=True):
    """The grade of one answer on the day of scoring."""

    tape: str
    kind: str
    node: str
    grade: Grade


def scored() -> dict[Answered, Grade]:
    """Return the grades of the day of scoring."""
    content = (BLIND / "scored.json").read_bytes()
    found = msgspec.json.decode(content, type=list[Scored])
    return {(one.tape, one.kind, one.node): one.grade for one in found}


def test_every_blind_truth_was_played_and_scored() -> None:
    assert set(live_names(BLIND)) == set(TRUTHS)
    assert {tape for tape, _, _ in scored()} == set(TRUTHS)


async def test_blind_incidents_are_explained_as_well_as_when_scored(
    embedded_server: DatabaseServer,
) -> None:
    names = live_names(BLIND)
    async with fresh_database(embedded_server, TEMPLATE) as database:
        logs = await play_live(database.dsn("writer"), names, BLIND)
        graded = [one async for one in ask_live(database, logs, BLIND)]

    then = scored()
    assert not [one for one in graded if is_worse(one, then)]


def is_worse(one: Graded, then: dict[Answered, Grade]) -> bool:
    """Return whether a right answer is lost, or another is sure and wrong."""
    before = then[one.incident, one.command, one.node]
    now = one.judged.grade
    if before in RIGHT:
        return now not in RIGHT
    return now is Grade.SURE_AND_WRONG and before is not now
