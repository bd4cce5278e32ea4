"""What stays when its day is dropped: only that, with its facts."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from recorder.admin.checkpointing import make_checkpoint
from recorder.admin.proving import prove
from recorder.admin.retaining import Retained, Retaining, retain
from recorder.integrity.proof import check_proof
from recorder.model.reference import EntryName
from recorder.retention.policy import Policy, Rule
from recorder.store.long_work import connect_to
from recorder.store.retention import ToKeep
from tests.retention.test_thinning import KEY, PUBLIC, rows, there, verified
from tests.support.builders import at
from tests.support.days import asked, write_statements
from tests.support.fact_rows import current_facts, derive_anew
from tests.support.postgres import Database

DAY = timedelta(days=1)
OF_STATEMENTS = {15, 20, 21, 22}
"""Kinds of facts that nothing else than statements tells."""

FACTS_OF_PODS = """
    select count(*) from recorder.fact f
    join recorder.object o using (object_id)
    join recorder.kind k using (kind_id)
    where k.name = 'Pod' and f.recorded_at < now() - interval '3 days'
"""
ALL_LONGER = {"audit/delete": 30, "Event/Failed": 30, "Lease": 30}


async def run(
    database: Database,
    longer: Mapping[str, int],
    *,
    place: Path | None = None,
    hot: timedelta = DAY,
    **more: object,
) -> Retained:
    """Drop the days that are over for so long and a day."""
    policy = Policy(
        hot=hot,
        place=None if place is None else str(place),
        unarchived="drop" if place is None else "keep",
        longer=longer,
    )
    how = Retaining(policy=policy, **more)  # type: ignore[arg-type]
    return await retain(database.dsn("retention"), how)


async def test_statements_stay_for_as_long_as_the_policy_says(
    any_database: Database,
) -> None:
    await write_statements(any_database, 5)
    await write_statements(any_database, 2)
    longer = {**ALL_LONGER, "audit/get": 4, "Pod": 300}
    before = await there(any_database, 5)
    told = await current_facts(any_database)

    dry = await run(any_database, longer, hot=2 * DAY, dry=True)

    assert dry.kept == [
        ToKeep("Event/Failed", 1, 0),
        ToKeep("Lease", 1, 0),
        ToKeep("Pod", 0, await asked(any_database, FACTS_OF_PODS)),  # type: ignore[arg-type]
        ToKeep("audit/delete", 1, 0),
        ToKeep("audit/get", 0, 0),
    ]
    assert await there(any_database, 5) == before

    done = await run(any_database, longer, hot=2 * DAY)

    assert [one.name for one in done.dropped] == [
        one.name for one in dry.dropped
    ]
    stay = {"audit/delete", "Pod/Failed", "Lease", "Pod"}
    assert await there(any_database, 5) == [o for o in before if o in stay]
    left = await rows(any_database, "select position from recorder.entry")
    positions = {row["position"] for row in left}

    def of_what_stayed(facts: Sequence[tuple[Any, ...]]) -> object:
        return [
            one
            for one in facts
            if one[3] in positions and one[10] in OF_STATEMENTS
        ]

    for anew in (False, True):
        if anew:
            await derive_anew(any_database)
        after = await current_facts(any_database)
        assert of_what_stayed(after) == of_what_stayed(told) != []

    assert (await verified(any_database)).problems == []

    # With the next day that is dropped goes what stayed until then.
    await run(any_database, {"Event/Failed": 30, "audit/delete": 4})
    assert await there(any_database, 5) == ["Pod", "Pod/Failed"]


async def test_a_part_that_stays_is_spared_where_the_rest_goes_early(
    database: Database, tmp_path: Path
) -> None:
    await write_statements(database, 5)
    policy = Policy(
        place=str(tmp_path),
        hot=timedelta(days=300),
        longer={"audit/delete": 400},
        shorter=(Rule(name="audit", days=1), Rule(name="Lease", days=1)),
    )
    done = await retain(database.dsn("retention"), Retaining(policy=policy))

    assert done.thinned[0].by_rule == {"audit=1": 1, "Lease=1": 1}
    audits = [
        one for one in await there(database, 5) if one.startswith("audit")
    ]
    assert audits == ["audit/delete"]


async def test_what_stayed_is_proven_as_before(
    database: Database, tmp_path: Path
) -> None:
    await write_statements(database, 5)
    connection = await connect_to(database.dsn("writer"))
    try:
        await make_checkpoint(connection, 1, KEY, [], at(0))
        lease = await connection.fetchval(
            "select position from recorder.entry where operation = 6"
        )
        before = await prove(connection, EntryName(1, lease))

        done = await run(database, {"Lease": 30}, place=tmp_path)

        assert done.dropped
        assert "Lease" in await there(database, 5)
        after = await prove(connection, EntryName(1, lease))
    finally:
        await connection.close()
    assert after == before
    check_proof(msgspec.json.encode(after), [PUBLIC])
