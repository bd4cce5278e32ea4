"""Words: reasons and actors go once nothing refers to them, and not before.

That a name which is referred to stays for every reader is in test_dropping.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recorder.store import retention
from recorder.store.retention import RetentionStore, connect_for_retention
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer
from tests.retention.test_dropping import run
from tests.support.builders import EVENTS, a_frame, an_event
from tests.support.days import (
    asked,
    noon,
    owner,
    set_clock,
    write_days,
    write_events,
)
from tests.support.postgres import Database

WORDS = "select array_agg(text order by text) from recorder.word"
DANGLING = """
    select count(*) from (
      select unnest(array[reason_id, actor_id]) as id from recorder.entry
      union all
      select unnest(array[actor_id, topic_id]) from recorder.fact) u
    where id is not null
      and not exists (select from recorder.word where word_id = id)
"""
KEPT = """
    select array_agg(distinct w.text) from recorder.fact_kept f
    join recorder.word w on w.word_id = f.topic_id
"""


async def words(database: Database) -> list[str]:
    found = await asked(database, WORDS)
    assert isinstance(found, list)
    return found


async def test_a_word_goes_with_the_last_that_refers_to_it(
    any_database: Database, tmp_path: Path
) -> None:
    await write_days(any_database)
    await write_events(any_database, "Gone", 6)
    await write_events(any_database, "Recent", 5)
    assert await words(any_database) == ["Gone", "Recent", "kubelet"]

    await run(any_database, tmp_path, hot=timedelta(days=4))

    assert await words(any_database) == ["Recent", "kubelet"]
    assert await asked(any_database, DANGLING) == 0


async def test_a_word_stays_that_a_hold_keeps(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await write_events(database, "Gone", 6)
    await write_events(database, "Held", 5)
    async with owner(database) as connection:
        await connection.execute(
            "insert into recorder.hold (log_id, since, until, who, why)"
            " values (1, $1, $2, 'ann', 'an audit')",
            noon(5) - timedelta(hours=1),
            noon(5) + timedelta(hours=1),
        )

    await run(database, tmp_path, hot=timedelta(days=2))

    assert await words(database) == ["Held", "kubelet"]
    assert await asked(database, DANGLING) == 0


async def test_a_word_stays_that_a_fact_carried_forward_refers_to(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that an earlier release kept."""
    await write_days(database)
    await write_events(database, "Carried", 6)
    kept = retention.BUILD_KEPT
    longer = replace(kept, text=kept.text.replace("{}", '{"Pod": "30 days"}'))
    monkeypatch.setattr(retention, "BUILD_KEPT", longer)

    await run(database, tmp_path, hot=timedelta(days=2))

    assert await asked(database, KEPT) == ["Carried"]
    assert await words(database) == ["Carried", "kubelet"]
    assert await asked(database, DANGLING) == 0


async def test_a_word_that_comes_back_is_kept_or_made_again(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the look, which takes long, and after the removal."""

    async def forget_nothing(_: RetentionStore) -> int:
        return 0

    await write_days(database, 1)
    await set_clock(database, noon(9) - datetime.now(UTC))
    writer = Writer(database.dsn("writer"), SPEC, holder="b")
    teller = Observer(await writer.take_lease())

    async def write(reason: str, version: int) -> None:
        event = {**an_event(f"event-{version}", version), "reason": reason}
        await writer.append(teller.batch(a_frame(EVENTS, "ADDED", event)))

    await write("Goes", 801)
    await write("Returns", 802)
    await set_clock(database, timedelta(0))
    with monkeypatch.context() as patch:
        patch.setattr(RetentionStore, "forget_names", forget_nothing)
        done = await run(database, tmp_path)
    assert len(done.dropped) == 2
    connection = await connect_for_retention(database.dsn("retention"))
    look = "select recorder.look_for_unused_words()"
    forget = "select recorder.forget_words(100)"

    assert await connection.fetchval(look) == 3, "its actor, too"
    await write("Returns", 901)
    assert await connection.fetchval(forget) == 1
    assert await words(database) == ["Returns", "kubelet"]
    # Its number was remembered by the writer, and is no more.
    await write("Goes", 902)

    assert await words(database) == ["Goes", "Returns", "kubelet"]
    assert await asked(database, DANGLING) == 0
    assert await connection.fetchval(forget) == 0
    connection.terminate()
    await writer.close()


async def test_words_stay_while_facts_are_rebuilt(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forget_nothing(_: RetentionStore) -> int:
        return 0

    await write_days(database)
    await write_events(database, "Gone", 6)
    with monkeypatch.context() as patch:
        patch.setattr(RetentionStore, "forget_names", forget_nothing)
        await run(database, tmp_path, hot=timedelta(days=2))
    connection = await connect_for_retention(database.dsn("retention"))
    await connection.fetchval("select recorder.look_for_unused_words()")
    forget = "select recorder.forget_words(100)"

    async with owner(database) as another:
        await another.execute(
            "select pg_advisory_lock(hashtext('recorder.rederive'), 1)"
        )
        assert await connection.fetchval(forget) == 0
        await another.execute(
            "select pg_advisory_unlock(hashtext('recorder.rederive'), 1);"
            "insert into recorder.derivation (log_id, rules, state)"
            " values (1, 1, 'former')"
        )
        assert await connection.fetchval(forget) == 0
    await connection.fetchval("select recorder.look_for_unused_words()")
    assert await connection.fetchval(forget) == 2
    connection.terminate()
