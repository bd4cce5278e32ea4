"""What commands answer of days that were dropped."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from tests.cli.conftest import Answer
from tests.corpus.logs import play
from tests.support.days import (
    asked,
    noon,
    set_clock,
    write_a_loss,
    write_days,
    write_events,
)
from tests.support.postgres import Database

Recorder = Callable[..., Answer]

PANIC = Path(__file__).parents[1] / "corpus/tapes/kernel-panic.tape.jsonl.zst"
"""A node and one workload on it."""


def lose_a_manifest(place: Path) -> None:
    (first, *_) = sorted(place.rglob("manifest.json"))
    first.unlink()


def comparable(answer: Answer) -> dict[str, object]:
    """Return an answer without where the record ends and what is read of it
    begins: a run adds to it, and drops days.
    """
    found = dict(answer.json)
    coverage = found.get("coverage")
    if isinstance(coverage, dict):
        del coverage["recorded_until"], coverage["since"]
    return found


QUESTIONS = (
    ("show", "pod/train/stays"),
    ("show", "node/gpu-001"),
    ("show", "node/gpu-001", "--at", "{hot}"),
    ("history", "pod/train/day-3"),
    ("history", "node/gpu-001", "--since", "{hot}"),
    ("why", "node/gpu-001", "--since", "{hot}"),
    ("impact", "node/gpu-001", "--since", "{hot}"),
    ("incidents", "--since", "{hot}"),
)


async def test_answers_about_what_is_kept_are_the_same_before_and_after(
    days: Database, recorder: Recorder
) -> None:
    await write_days(days, 6)
    url = ("--database-url", days.superuser_dsn())
    hot = noon(7).strftime("%Y-%m-%dT%H:%M:%SZ")

    async def answers() -> list[Answer]:
        found = []
        for words in QUESTIONS:
            given = [word.format(hot=hot) for word in words]
            found.append(
                await asyncio.to_thread(recorder, *given, "-o", "json", *url)
            )
        return found

    archived = await asyncio.to_thread(recorder, "archive", *url)
    assert archived.status == 0, archived.err
    before = await answers()
    assert all(one.status in {0, 4} for one in before), before
    await asyncio.to_thread(recorder, "prune", *url)
    dropped = await asked(
        days, "select pruned_positions from recorder.log_head"
    )
    assert isinstance(dropped, int)
    assert dropped > 0

    for words, one, other in zip(
        QUESTIONS, before, await answers(), strict=True
    ):
        assert (words, other.status) == (words, one.status)
        assert comparable(other) == comparable(one), words


async def test_dropped_days_are_answered_or_named(
    days: Database, recorder: Recorder, tmp_path: Path
) -> None:
    await write_days(days)
    url = ("--database-url", days.superuser_dsn())
    since = noon(11).strftime("%Y-%m-%dT%H:%M:%SZ")
    asked = ("incidents", "--since", since, "-o", "json", *url)
    before = await asyncio.to_thread(recorder, *asked)
    await asyncio.to_thread(recorder, "prune", *url)

    answer = await asyncio.to_thread(recorder, *asked)
    assert answer.json["incidents"] == before.json["incidents"]
    assert '"archived"' in answer.out

    lose_a_manifest(tmp_path)
    answer = await asyncio.to_thread(recorder, *asked)
    assert answer.status == 4
    assert "which cannot be read" in answer.out


async def test_dropped_days_without_a_since_are_named(
    days: Database, recorder: Recorder
) -> None:
    """Without a beginning what is hot is read, and it is said to be that."""
    await write_days(days)
    url = ("--database-url", days.superuser_dsn())
    asked = ("why", "node/gpu-001", *url)
    before = await asyncio.to_thread(recorder, *asked, "-o", "json")
    assert before.json["coverage"]["since"] is None  # type: ignore[index]
    await asyncio.to_thread(recorder, "prune", *url)
    first = f"{noon(8):%Y-%m-%d}T00:00:00.000000Z"

    answer = await asyncio.to_thread(recorder, *asked)
    assert f"not read: dropped days before {first}; use --since" in answer.err
    document = await asyncio.to_thread(recorder, *asked, "-o", "json")
    assert document.json["coverage"]["since"] == first  # type: ignore[index]
    whole = await asyncio.to_thread(recorder, *asked, "--since", "30d")
    assert "not read" not in whole.err


async def test_a_tape_of_dropped_days_is_answered_without_a_window(
    days: Database, recorder: Recorder
) -> None:
    """What its runs of retention wrote since is not all that it holds."""
    url = ("--database-url", days.superuser_dsn())
    await set_clock(days, -timedelta(days=20))
    await play(days.dsn("writer"), PANIC, name="old")
    await set_clock(days, timedelta(0))
    asked = ("incidents", "-o", "json", *url)
    before = await asyncio.to_thread(recorder, *asked)

    pruned = await asyncio.to_thread(recorder, "prune", *url)
    assert "dropped 8 days" in pruned.err
    after = await asyncio.to_thread(recorder, *asked)

    assert before.out.count('"workloads": 1') == 1
    assert after.json["incidents"] == before.json["incidents"]
    assert '"archived"' in after.out


async def test_what_began_in_dropped_days_is_shown_whole(
    days: Database, recorder: Recorder
) -> None:
    """Of a node that is still away the evidence stays, not what it hit."""
    url = ("--database-url", days.superuser_dsn())
    await write_a_loss(days, 10)
    await write_events(days, "Later", 2)
    asked = ("incidents", "-o", "json", *url)
    before = await asyncio.to_thread(recorder, *asked)

    pruned = await asyncio.to_thread(recorder, "prune", *url)
    assert "dropped" in pruned.err
    after = await asyncio.to_thread(recorder, *asked)

    assert before.out.count('"workloads": 1') == 1
    assert after.json["incidents"] == before.json["incidents"]


async def test_objects_of_a_day_name_the_days_that_are_not_read(
    days: Database, recorder: Recorder
) -> None:
    """Of the days before one, thirty are read."""
    await write_days(days, 34, oldest=42)
    url = ("--database-url", days.superuser_dsn())
    await asyncio.to_thread(recorder, "prune", *url)

    def pods(ago: int) -> Answer:
        at = noon(ago).strftime("%Y-%m-%dT%H:%M:%SZ")
        return recorder("get", "pods", "--at", at, *url)

    early = await asyncio.to_thread(pods, 40)
    late = await asyncio.to_thread(pods, 9)
    kept = await asyncio.to_thread(pods, 7)

    assert "are not read" not in early.err + kept.err
    assert "days that are not read; objects are missing" in late.err
    assert late.status == 4
