"""A name that is hidden takes the work of one that is not there.

Counted by what is asked of the log and of the API server, and how much comes
back: by the clock it would be a matter of luck.
"""

from collections.abc import Awaitable, Callable, Iterator, Sized
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from api.resolvers.reviewing import PersonRights, Reviewing
from api.resolvers.visible.reading import VisibleReading
from api.resolvers.visible.sight import Sight
from recorder.answers.log_questions import SearchQuestion
from recorder.answers.naming import Reference
from recorder.answers.ports import Reading
from recorder.answers.references import find_node, find_objects
from recorder.answers.search import SearchKind, ask_search
from recorder.model.access import Person
from recorder.model.errors import NotFoundError
from recorder.model.settings import Settings
from recorder.wiring.reading import open_logs
from tests.api.tenants import (
    MACHINE,
    OTHERS_MACHINE,
    OWN_SECRET,
    Cluster,
    Tenants,
)
from tests.support.filled import filled_database
from tests.support.fixed_log import LIVE
from tests.support.postgres import Database, DatabaseServer

Question = Callable[[Reading], Awaitable[object]]

NOW = datetime.now(UTC)

RECORD = {"archived", "clock_jumps", "facts_end", "gaps"}
"""What coverage reads of a log, whatever name is asked for."""


class Counted:
    """A part of a reading, and what was asked of it."""

    def __init__(self, part: Any, work: list[object]) -> None:
        self._part = part
        self._work = work

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if not callable(found) or name in RECORD:
            return found

        async def counting(*given: Any, **more: Any) -> Any:
            answer = await found(*given, **more)
            asked = [part for one in given for part in parts_of(one)]
            sizes = [len(part) for part in asked if is_listed(part)]
            self._work.append((name, sizes, len(answer)))
            return answer

        return counting


def parts_of(given: object) -> list[Any]:
    """Return what a query asks for, or what is asked without one."""
    if not is_dataclass(given):
        return [given]
    fields_of = [getattr(given, field.name) for field in fields(given)]
    return [type(given), *fields_of]


def is_listed(given: object) -> bool:
    return isinstance(given, Sized) and not isinstance(given, str)


def searching(text: str) -> Question:
    return lambda reading: ask_search(
        reading, SearchQuestion(text=text, limit=20), now=NOW
    )


def finding(name: str) -> Question:
    return lambda reading: find_objects(reading, Reference.parse(name))


def noding(name: str) -> Question:
    return lambda reading: find_node(reading, name)


QUESTIONS = {
    "a part of a name": searching,
    "a name of a kind": lambda name: searching(f"pod/{name}"),
    "a node by a part": lambda name: searching(f"node/{name}"),
    "an object": lambda name: finding(f"pod/blue/{name}"),
    "an object in any namespace": lambda name: finding(f"pod/{name}"),
    "an own Secret": lambda name: finding(f"secret/amber/{name}"),
    "a node": noding,
}


HIDDEN = {
    "a part of a name": "blue-",
    "an own Secret": OWN_SECRET,
    "a node": OTHERS_MACHINE,
    "a node by a part": OTHERS_MACHINE,
}
ROWS_DIFFER = {"an object in any namespace", "a node"}
"""Where the same is asked, and what comes back to be left out differs."""


async def worked(
    database: Database, question: Question
) -> tuple[Any, list[Any]]:
    """Ask as amber; return the answer, and all work that it was."""
    work: list[object] = []
    cluster = Cluster()
    rights = PersonRights(
        Person("amber"), LIVE.cluster_uid, Reviewing(cluster)
    )
    settings = Settings(database_url=database.dsn("reader"))
    async with open_logs(settings) as logs:
        found: Any = Counted(await logs.read(None), work)
        sight = Sight(rights, found)
        await sight.check()
        reading = VisibleReading(found, sight, whole=False)
        answer: object = None
        try:
            answer = await question(reading)
        except NotFoundError as exc:
            answer = type(exc)
        return answer, [*work, *sorted(cluster.asked)]


@pytest.fixture(scope="module")
def tenants_database(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        written_log = Tenants(writer)
        await written_log.begin()
        await written_log.end()

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.mark.parametrize("what", QUESTIONS)
async def test_a_hidden_name_takes_the_work_of_one_that_is_not_there(
    tenants_database: Database, what: str
) -> None:
    hidden = HIDDEN.get(what, f"blue-job-{OTHERS_MACHINE}")
    ask = QUESTIONS[what]
    there, work = await worked(tenants_database, ask(hidden))
    absent, idle = await worked(tenants_database, ask("zzzz-none"))

    assert there == absent
    if what in ROWS_DIFFER:
        work, idle = [[w[0] for w in one] for one in (work, idle)]
    assert work == idle
    assert work


async def test_what_may_be_seen_is_found(tenants_database: Database) -> None:
    found, _ = await worked(tenants_database, searching("amber-job"))
    near, _ = await worked(tenants_database, searching("shared"))

    kinds = {hit.object.kind for hit in found.hits if hit.object}
    assert kinds == {"Job", "Pod"}
    nodes = [hit for hit in near.hits if hit.kind is SearchKind.NODE]
    assert [hit.node for hit in nodes] == [MACHINE]
