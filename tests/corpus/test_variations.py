"""What variations preserve, and what they change."""

from collections import defaultdict
from datetime import datetime, timedelta
from functools import cache

import msgspec
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.make import TAPES
from tests.corpus.playing import disorder, played
from tests.corpus.skewing import reporting_node
from tests.corpus.tape_lines import Frame, Lines, objects_of, read_lines
from tests.corpus.truth import problems, read_truth
from tests.corpus.variations import JITTER, SPARED, VARIATIONS
from tests.support.sampling import sampled

EVENTS = "v1/events"

seeds = st.integers(min_value=0, max_value=2**32)

few = settings(max_examples=8, deadline=None)


@cache
def recorded(name: str) -> AnsweredTape:
    """Return an incident, shared by all callers: do not change it."""
    tape = read_lines(TAPES / f"{name}.tape.jsonl.zst")
    return AnsweredTape(tape, read_truth(TAPES / f"{name}.truth.json"))


def vary(
    how: str, seed: int, name: str = "crash"
) -> tuple[AnsweredTape, AnsweredTape]:
    original = recorded(name)
    return original, VARIATIONS[how](original, seed)


def streams(tape: Lines) -> dict[str, list[Frame]]:
    """Each resource's frames, without the times of their arrival."""
    found: dict[str, list[Frame]] = defaultdict(list)
    for frame in tape.frames:
        rest = {key: value for key, value in frame.items() if key != "at"}
        found[str(frame.get("resource"))].append(rest)
    return found


def times(tape: Lines) -> list[datetime]:
    return [datetime.fromisoformat(frame["at"]) for frame in tape.frames]


def event_uids(tape: Lines) -> dict[str, str]:
    """Events by UID, with their reasons."""
    return {
        event["metadata"]["uid"]: event["reason"]
        for frame in tape.frames
        if frame.get("resource") == EVENTS
        for event in objects_of(frame)
        if "reason" in event
    }


@pytest.mark.parametrize(
    "how", sampled("decided by seed", sorted(VARIATIONS), 3)
)
@few
@given(seed=seeds)
def test_a_variation_is_decided_by_its_seed_alone(how: str, seed: int) -> None:
    before = orjson.dumps(recorded("crash").tape.frames)
    assert vary(how, seed)[1] == vary(how, seed)[1]
    assert orjson.dumps(recorded("crash").tape.frames) == before


@pytest.mark.parametrize("how", sampled("plays", sorted(VARIATIONS), 3))
@settings(max_examples=3, deadline=None)
@given(seed=seeds)
def test_a_varied_tape_plays_without_refusals(how: str, seed: int) -> None:
    for name in ("crash", "crash-in-gap"):
        varied = vary(how, seed, name)[1]
        assert played(varied.tape).of("refused") == []
        assert disorder(varied.tape.frames) == []
        assert problems(varied.truth) == []


@few
@given(seed=seeds)
def test_a_lost_event_is_lost_everywhere_and_nothing_else_is(
    seed: int,
) -> None:
    original, varied = vary("lose-events", seed)
    had, has = event_uids(original.tape), event_uids(varied.tape)
    lost = had.keys() - has.keys()
    assert has.items() <= had.items()
    assert not {had[uid] for uid in lost} & SPARED
    assert len(lost) <= len(had) / 3
    kept = streams(varied.tape)
    for resource, frames in streams(original.tape).items():
        if resource != EVENTS:
            assert kept[resource] == frames


def test_about_a_tenth_of_all_events_is_lost() -> None:
    had = lost = 0
    for seed in range(100):
        original, varied = vary("lose-events", seed)
        had += len(event_uids(original.tape))
        lost += len(event_uids(original.tape)) - len(event_uids(varied.tape))
    assert 0.07 < lost / had < 0.12


@few
@given(seed=seeds)
def test_a_shuffle_keeps_the_order_of_every_resource(seed: int) -> None:
    original, varied = vary("shuffle-arrival", seed)
    assert streams(varied.tape) == streams(original.tape)
    late = zip(times(original.tape), times(varied.tape), strict=True)
    assert max(after - before for before, after in late) <= 2 * JITTER


def test_a_shuffle_changes_the_order_across_resources() -> None:
    original, varied = vary("shuffle-arrival", 1)
    assert [f.get("resource") for f in varied.tape.frames] != [
        f.get("resource") for f in original.tape.frames
    ]


@few
@given(seed=seeds)
def test_a_shuffle_makes_the_same_entries(seed: int) -> None:
    original, varied = vary("shuffle-arrival", seed)
    assert sorted(played(original.tape).summaries()) == sorted(
        played(varied.tape).summaries()
    )


@few
@given(seed=seeds)
def test_a_repeated_frame_makes_no_entry(seed: int) -> None:
    original, varied = vary("repeat-frames", seed)
    assert len(varied.tape.frames) > len(original.tape.frames)
    assert played(varied.tape).summaries() == played(original.tape).summaries()


@few
@given(seed=seeds)
def test_every_node_is_registered_at_once(seed: int) -> None:
    original, varied = vary("register-all", seed)
    added = event_uids(varied.tape).items() - event_uids(original.tape).items()
    assert [reason for _, reason in added] == ["RegisteredNode"] * 3
    before = len(played(original.tape).drafts)
    assert len(played(varied.tape).drafts) == before + 3


@few
@given(seed=seeds)
def test_a_renamed_tape_holds_no_old_name(seed: int) -> None:
    original, varied = vary("rename", seed)
    text = orjson.dumps(varied.tape.frames) + msgspec.json.encode(varied.truth)
    assert b"gpu-00" not in text
    assert b"llm-pretrain" not in text
    assert len({node.name for node in varied.truth.cluster.nodes}) == 3
    assert len(varied.tape.frames) == len(original.tape.frames)
    operations = [d.operation for d in played(original.tape).drafts]
    assert [d.operation for d in played(varied.tape).drafts] == operations


@few
@given(seed=seeds)
def test_days_move_every_time_by_as_much(seed: int) -> None:
    original, varied = vary("shift-days", seed)
    moved = {
        late - at
        for at, late in zip(
            times(original.tape), times(varied.tape), strict=True
        )
    }
    assert len(moved) == 1
    (by,) = moved
    assert by % timedelta(days=1) == timedelta(0)
    for act, other in zip(original.truth.acts, varied.truth.acts, strict=True):
        assert act.at is not None
        assert other.at is not None
        was = datetime.fromisoformat(act.at)
        assert datetime.fromisoformat(other.at) - was == by


@few
@given(seed=seeds, how=st.sampled_from(["skew-node", "skew-node-far"]))
def test_a_skewed_clock_shows_in_what_one_node_says(
    seed: int, how: str
) -> None:
    original, varied = vary(how, seed)
    hosts = set()
    for frame, other in zip(
        original.tape.frames, varied.tape.frames, strict=True
    ):
        assert frame["at"] == other["at"]
        for one, same in zip(
            objects_of(frame), objects_of(other), strict=True
        ):
            if one != same:
                hosts.add(reporting_node(one))
                assert one["metadata"] == same["metadata"]
    assert len(hosts) <= 1


def without_actors(answered: AnsweredTape) -> list[object]:
    return [
        msgspec.structs.replace(
            verdict, actor=None, confidence_at_most="unknown"
        )
        for verdict in answered.truth.verdicts
    ]


@pytest.mark.parametrize("name", ["drain-audited", "admin-request-audited"])
def test_without_audit_no_person_is_named(name: str) -> None:
    original, varied = vary("without-audit", 0, name)
    assert all(frame["frame"] != "audit" for frame in varied.tape.frames)
    assert not varied.truth.cluster.audit
    for verdict in varied.truth.verdicts:
        assert verdict.actor is not None
        assert verdict.actor.name is None
        assert verdict.actor.never == ["alice@example.com"]
    assert without_actors(varied) == without_actors(original)
