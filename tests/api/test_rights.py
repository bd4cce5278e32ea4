"""What a reader with few rights receives, who may have had more a moment ago.

What a real API server grants is in ``tests/recording/test_access.py``.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from api.access import Principal
from api.resolvers.judging import Judging, incidents_of_last_day
from api.resolvers.visible.logs import visible
from api.resolvers.workers import Workers
from recorder.answers.nouns import Part, Selection
from recorder.answers.queries import EntryQuery, FactQuery, Purpose
from recorder.explain.knowledge import shipped
from recorder.model.access import Right
from recorder.model.entry import Operation
from recorder.model.fact import FactKind
from recorder.model.observation import CloudEventPosted, Noticed
from recorder.model.settings import Settings
from recorder.wiring.reading import Logs, open_logs
from tests.support.builders import NODES, PODS, a_frame, a_list, a_node, at
from tests.support.fixed_log import LIVE
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog

GET_NODES, GET_PODS = Right("", "nodes", ""), Right("", "pods", "")
LIST_NODES = GET_NODES._replace(verb="list")


@dataclass(frozen=True)
class Granted:
    """Rights that are taken away as the test goes."""

    now: set[Right] = field(compare=False)
    cluster_uid: str = LIVE.cluster_uid

    async def held(self, wanted: Collection[Right]) -> Collection[Right]:
        return {one for one in wanted if one in self.now}


@asynccontextmanager
async def opened(database: Database) -> AsyncIterator[Logs]:
    async with open_logs(Settings(database_url=database.dsn("reader"))) as it:
        yield it


async def test_what_was_judged_with_a_right_is_not_shown_without_it(
    database: Database, written_log: WrittenLog
) -> None:
    """By the next subscription of the same person, to a log that is quiet."""
    await written_log.append(
        a_list(PODS, 2),
        a_frame(NODES, "MODIFIED", a_node("n1", 60, ready="Unknown"), when=60),
    )
    rights = Granted({GET_NODES, GET_PODS})
    who, stop = Principal("ann", rights), asyncio.Event()
    async with opened(database) as logs:
        workers = Workers(logs)
        judging = Judging(logs, workers, shipped(), stop)
        async with workers.running(), judging.running():

            async def incidents_of() -> int:
                async with aclosing(
                    judging.watch((None, None), who, incidents_of_last_day)
                ) as news:
                    return len((await anext(news)).incidents)

            async with aclosing(
                judging.watch((None, None), who, incidents_of_last_day)
            ) as first:
                assert len((await anext(first)).incidents) == 1
                assert await incidents_of() == 1
                rights.now.discard(GET_NODES)
                assert await incidents_of() == 0


async def test_why_days_are_held_is_shown_to_who_may_get_nodes(
    database: Database, written_log: WrittenLog
) -> None:
    held = b'{"action":"hold placed","node":"n1","why":"a lawsuit"}'
    await written_log.append(Noticed(observed_at=at(61), document=held))
    rights = Granted({GET_PODS})

    async def read() -> set[Operation]:
        async with opened(database) as logs:
            reading = await visible(logs, Principal("ann", rights)).read(None)
            return {
                line.operation
                async for page in reading.pages(
                    EntryQuery(Selection(), Part.OPENED), after=0
                )
                for line in page
            }

    assert Operation.RETENTION not in await read()
    rights.now.add(GET_NODES)
    assert Operation.RETENTION in await read()


async def test_what_others_claim_takes_rights_to_nodes(
    database: Database, written_log: WrittenLog
) -> None:
    about = [
        ("t", "node/n1"),
        ("t", "switch/leaf-7"),
        ("t", "train/llm"),
        ("slurm.node", "node/n2"),
        ("metrics.range", "node/n3"),
    ]
    names = [subject for _, subject in about]
    await written_log.append(
        *(
            CloudEventPosted(
                observed_at=at(60),
                event=(
                    b'{"specversion":"1.0","id":"1","source":"s","type":"%b",'
                    b'"subject":"%b"}' % (kind.encode(), subject.encode())
                ),
                key=f"key-{subject}",
            )
            for kind, subject in about
        )
    )
    rights = Granted({GET_PODS, Right("", "pods", "train")})

    async def read() -> list[str]:
        async with opened(database) as logs:
            reading = await visible(logs, Principal("ann", rights)).read(None)
            lines = [
                line
                async for page in reading.pages(
                    EntryQuery(Selection(), Part.OPENED), after=0
                )
                for line in page
            ]
            facts = await reading.facts(
                FactQuery(
                    purpose=Purpose.ENTRIES,
                    entries={
                        line.entry.position: line.recorded_at for line in lines
                    },
                )
            )
            claims = [
                line.identity.name
                for line in lines
                if line.identity and line.operation is Operation.CLOUDEVENT
            ]
            shown = [f for f in facts if f.fact.kind is FactKind.CLAIMED]
            assert len(shown) == len(claims)
            newest = await reading.skip_to_newest(EntryQuery(Selection()), 1)
            last = [line for line in lines if line.entry.position > newest]
            assert last == lines[-1:]
            return claims

    assert await read() == []
    rights.now.add(GET_NODES)
    assert await read() == ["node/n1"]
    rights.now.add(LIST_NODES)
    assert await read() == names
