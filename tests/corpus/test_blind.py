"""Blind incidents are explained no worse than when they were scored.

Each set was scored once, by the answers of that day (`blind/README.md` and
`blind2` to `blind8`). ``make test`` asks a sample of each.
"""

import msgspec
import pytest

from tests.conftest import TEMPLATE
from tests.corpus.blind.sets import SETS, BlindSet
from tests.corpus.live.asking import Graded, ask_live, live_names, play_live
from tests.corpus.live_judge import Grade
from tests.support.postgres import DatabaseServer, fresh_database
from tests.support.sampling import sampled

RIGHT = frozenset({Grade.RIGHT, Grade.TIMID})

SAMPLE = 10

Answered = tuple[str, str, str]
"""An incident, a command and a node."""

each_set = pytest.mark.parametrize("blind", SETS, ids=lambda one: one.name)


class Scored(msgspec.Struct, frozen=True):
    """The grade of one answer on the day of scoring."""

    tape: str
    kind: str
    node: str
    grade: Grade


def scored(blind: BlindSet) -> dict[Answered, Grade]:
    """Return the grades of the day of scoring."""
    content = (blind.folder / "scored.json").read_bytes()
    found = msgspec.json.decode(content, type=list[Scored])
    return {(one.tape, one.kind, one.node): one.grade for one in found}


@each_set
def test_every_blind_truth_was_played_and_scored(blind: BlindSet) -> None:
    truths = set(blind.truths())

    assert set(live_names(blind.folder)) == truths
    assert {tape for tape, _, _ in scored(blind)} == truths


@each_set
async def test_blind_incidents_are_explained_as_well_as_when_scored(
    blind: BlindSet, embedded_server: DatabaseServer
) -> None:
    folder = blind.folder
    async with fresh_database(embedded_server, TEMPLATE) as database:
        dsn = database.dsn("writer")
        names = sampled(blind.name, live_names(folder), SAMPLE)
        logs = await play_live(dsn, names, folder)
        graded = [one async for one in ask_live(database, logs, folder)]

    then = scored(blind)
    assert not [one for one in graded if is_worse(one, then)]


MENDED = {
    "blind2": ("c14_",),
    "blind4": ("e08_", "e09_", "e11_", "e22_"),
    "blind5": ("f02_", "f04_", "f06_"),
    "blind8": ("k09_",),
}
"""Parts of one workload. A drain that was over; one whose author finished what
it began; a gang that its owner makes anew; a clock that is ahead, in a window.
A Node that its cloud deletes once a program or a person has emptied it. A gang
that is deleted before its silent node is given up: the tape was wrong."""


@pytest.mark.parametrize("name", MENDED)
async def test_what_was_mended_since_it_was_scored_is_right(
    name: str, embedded_server: DatabaseServer
) -> None:
    (blind,) = (one for one in SETS if one.name == name)
    folder, chosen = blind.folder, MENDED[name]
    names = [n for n in live_names(folder) if n.startswith(chosen)]
    async with fresh_database(embedded_server, TEMPLATE) as database:
        logs = await play_live(database.dsn("writer"), names, folder)
        graded = [one async for one in ask_live(database, logs, folder)]

    assert len(names) == len(chosen)
    assert not [one for one in graded if one.judged.grade != Grade.RIGHT]


def is_worse(one: Graded, then: dict[Answered, Grade]) -> bool:
    """Return whether a right answer is lost, or another is sure and wrong."""
    before = then[one.incident, one.command, one.node]
    now = one.judged.grade
    if before in RIGHT:
        return now not in RIGHT
    return now is Grade.SURE_AND_WRONG and before is not now
