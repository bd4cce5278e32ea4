"""Incidents from what controllers are known to write, recorded in every way.

Every one is recorded as it happened; of the ways in which a log lacks
something or differs, a sample is: see `tests.support.sampling`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache
from itertools import accumulate, product
from random import Random
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from recorder.facts.coverage.hole import Hole
from recorder.model.document import plain
from recorder.model.entry import Draft, Operation
from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.judging import Mark
from tests.corpus.playing import played
from tests.corpus.rewording import moment_of, shifted, shifted_from
from tests.corpus.tape_lines import Lines
from tests.corpus.variations import VARIATIONS
from tests.explain.judged import Judged, judged
from tests.scenarios.telling.classes import CLASSES
from tests.scenarios.telling.marking import (
    Miss,
    hits_of,
    judged_of,
    missed_workloads,
    misses,
)
from tests.scenarios.telling.registry import INCIDENTS
from tests.scenarios.telling.world import NODES
from tests.support.sampling import sampled

NAMES = sorted(INCIDENTS)
ANSWERED_NO = "a-wish-is-answered-no-and-it-crashes-in-minutes"
"""Without one of its entries, one version shows an answer and the loss."""

SEED = 20260301
FEW, SOME = 24, 160
"""How many of a family are taken: of those that judge an incident once for
each of its entries, and of those that judge it once or twice."""

LOSABLE = frozenset({"v1/events", "coordination.k8s.io/v1/leases", None})
"""Resources with versions that have what no later one has: they may be
lost without a trace. None is audit."""

KEPT = frozenset(
    {
        Operation.LISTED,
        Operation.ADDED,
        Operation.MODIFIED,
        Operation.DELETED,
    }
)
"""Operations that show an object, or its end."""

MOMENT = timedelta(milliseconds=1)

LOST_SHARE = 0.1

BY_TAINT = b"DeletionByTaintManager"

TOLERATED = timedelta(seconds=295)
"""How much later a lost node is emptied with the default toleration."""

WAITING = frozenset({"down", "failed", "rescheduled", "restarted"})
"""What becomes of a workload that is down while its Pods are not evicted."""

DAYS = timedelta(days=123)

EPOCH = re.compile(r"\b17\d{8}\b")
"""Seconds since 1970, as labels and taints have them."""


@cache
def recording(name: str) -> AnsweredTape:
    return INCIDENTS[name]().answered_tape(name)


@cache
def entries(name: str) -> Sequence[Draft]:
    return played(recording(name).tape).drafts


COSTED = [name for name in NAMES if INCIDENTS[name]().is_costed]
"""Of those that have a gap a gap would hide that there was one."""


@cache
def evicted_at(name: str) -> str | None:
    """Return when the first Pods of a lost node were evicted, if any were."""
    frames = recording(name).tape.frames
    texts = ((frame["at"], orjson.dumps(frame)) for frame in frames)
    return next((at for at, text in texts if BY_TAINT in text), None)


def losable(name: str) -> list[int]:
    """Return the entries that may be lost without a trace.

    The last version of an object is not one of them: it holds until there
    is another, and a list shows it again; so does its deletion.
    """
    last = {
        (draft.resource, draft.identity): place
        for place, draft in enumerate(entries(name))
        if draft.operation is not Operation.DELETED
    }
    return [
        place
        for place, draft in enumerate(entries(name))
        if draft.resource in LOSABLE
        or (
            last[draft.resource, draft.identity] != place
            and draft.operation is not Operation.DELETED
        )
    ]


def sure_and_wrong(
    name: str, drafts: Sequence[Draft], holes: Sequence[Hole] = ()
) -> list[str]:
    """Return the sure errors about a log that lacks something.

    How sure a right answer may be was said of the whole log.
    """
    found: list[Miss] = misses(recording(name).truth, judged_of(drafts, holes))
    return [
        text
        for mark, text in found
        if mark is Mark.SURE_AND_WRONG and " is too sure: " not in text
    ]


def said(tape: Lines, nodes: Sequence[str]) -> list[dict[str, Any]]:
    """Return all that is said of nodes, as the public interface shows it."""
    found = judged(tape)
    return [plain(v) for node in nodes for v in found.verdicts(node)]


def nodes_of(name: str) -> list[str]:
    return [node.name for node in recording(name).truth.cluster.nodes]


def test_every_class_of_incident_has_several() -> None:
    assert len(NAMES) >= 100
    assert all(module.__doc__ for module in CLASSES)


@pytest.mark.parametrize("name", NAMES)
def test_an_incident_is_judged_by_its_truth(name: str) -> None:
    found = judged_of(entries(name))
    assert misses(recording(name).truth, found) == []
    assert missed_workloads(recording(name), found) == []


@pytest.mark.parametrize(
    "name", sorted({*sampled("one lost", NAMES, FEW), ANSWERED_NO})
)
def test_whatever_one_entry_is_lost_nothing_wrong_is_said_surely(
    name: str,
) -> None:
    drafts = entries(name)
    for place in losable(name):
        left = [*drafts[:place], *drafts[place + 1 :]]
        assert sure_and_wrong(name, left) == [], (place, drafts[place].raw)


@pytest.mark.parametrize(
    ("name", "seed"),
    sampled("tenth lost", product(NAMES, range(8)), SOME),
)
def test_a_tenth_is_lost_and_nothing_wrong_is_said_surely(
    name: str, seed: int
) -> None:
    chance = Random(f"{name} {seed}")
    lost = {p for p in losable(name) if chance.random() < LOST_SHARE}
    left = [d for p, d in enumerate(entries(name)) if p not in lost]
    assert sure_and_wrong(name, left) == []


@pytest.mark.parametrize("name", sampled("no events", NAMES, SOME))
def test_no_event_ever_arrives_and_nothing_wrong_is_said_surely(
    name: str,
) -> None:
    left = [d for d in entries(name) if d.resource != "v1/events"]
    assert sure_and_wrong(name, left) == []


@pytest.mark.parametrize(
    ("name", "length"),
    sampled("gap", product(NAMES, [2, 5, 16]), FEW),
)
def test_a_gap_anywhere_hides_something_and_makes_nothing_up(
    name: str, length: int
) -> None:
    for place, left, hole in gapped(name, length):
        assert sure_and_wrong(name, left, [hole]) == [], place


@pytest.mark.parametrize(
    ("name", "length"),
    sampled("cost of a gap", product(COSTED, [3, 12]), FEW),
)
def test_a_gap_anywhere_makes_nothing_cost_more_than_it_did(
    name: str, length: int
) -> None:
    most = {
        w.name: w.hours[1] for w in recording(name).truth.workloads if w.hours
    }
    for place, left, hole in gapped(name, length):
        for hit in hits_of(judged_of(left, [hole]), nodes_of(name)):
            cost = hit.gpu_hours_lost
            assert cost <= most.get(hit.workload.name, cost), (place, hit.says)


@pytest.mark.parametrize("name", sampled("begun", NAMES, FEW))
def test_a_log_may_begin_anywhere(name: str) -> None:
    drafts = entries(name)
    for place, draft in enumerate(drafts):
        if draft.operation is not Operation.LISTED:
            there = [
                head
                for head in relisted(drafts[:place])
                if head.operation is Operation.LISTED
            ]
            left = [*there, *drafts[place:]]
            found = sure_and_wrong(name, left)
            # Of what was before, a log that begins then shows nothing;
            # nor does a first list, of boots.
            assert [
                said
                for said in found
                if not said.startswith(("happened is joined", "boot_id"))
            ] == [], place


def gapped(name: str, length: int) -> Iterator[tuple[int, list[Draft], Hole]]:
    """Yield an incident with a gap of so many entries, at every place."""
    drafts = entries(name)
    # The last renewal before a silence is entered late.
    heard = [*accumulate((d.observed_at for d in drafts), max)]
    for place, draft in enumerate(drafts):
        if draft.operation is not Operation.LISTED:
            end = place + length
            left = [
                *drafts[:place],
                *relisted(drafts[place:end]),
                *drafts[end:],
            ]
            shown = heard[min(end, len(drafts)) - 1]
            yield (
                place,
                left,
                Hole(since=heard[place] - MOMENT, until=shown + MOMENT),
            )


def relisted(hidden: Sequence[Draft]) -> list[Draft]:
    """Return what a list shows of entries that were not seen."""
    heads: dict[object, Draft] = {}
    for draft in hidden:
        if draft.operation in KEPT:
            thing = json.loads(draft.raw)["metadata"]["uid"]
            heads[draft.resource, thing] = draft
    times = [draft.observed_at for draft in hidden]
    end = max(times) + MOMENT if times else None
    assert end is not None or not heads, "a list has its time"
    shown = [
        replace(
            draft,
            observed_at=end,
            operation=Operation.ABSENT
            if draft.operation is Operation.DELETED
            else Operation.LISTED,
        )
        for draft in heads.values()
    ]
    return sorted(
        shown,
        key=lambda d: (d.resource != NODES, d.operation is Operation.ABSENT),
    )


@pytest.mark.parametrize(
    ("name", "how"),
    sampled("otherwise", product(NAMES, sorted(VARIATIONS)), SOME),
)
def test_a_variation_leads_to_no_sure_error(name: str, how: str) -> None:
    other = VARIATIONS[how](recording(name), SEED)
    found = misses(other.truth, judged(other.tape))
    assert [m for m in found if m[0] is Mark.SURE_AND_WRONG] == []


@pytest.mark.parametrize(
    ("name", "seed"),
    sampled("at once", product(NAMES, range(10)), SOME),
)
def test_all_variations_at_once_lead_to_no_sure_error(
    name: str, seed: int
) -> None:
    other = VARIATIONS["at-once"](recording(name), seed)
    found = misses(other.truth, judged(other.tape))
    assert [m for m in found if m[0] is Mark.SURE_AND_WRONG] == []


@pytest.mark.parametrize("name", sampled("tolerated", NAMES, FEW))
def test_pods_may_be_evicted_five_minutes_after_their_node_was_lost(
    name: str,
) -> None:
    at = evicted_at(name)
    if at is None:
        return
    later = shifted_from(recording(name), moment_of(at), TOLERATED)
    found = judged(later.tape)
    costs = [replace(one, hours=[]) for one in later.truth.workloads]
    free = replace(later.truth, workloads=costs)
    assert misses(later.truth, found) == []
    assert missed_workloads(AnsweredTape(later.tape, free), found) == []


@pytest.mark.parametrize("name", sampled("dead", NAMES, FEW))
def test_what_ran_on_a_dead_machine_is_down_before_it_is_evicted(
    name: str,
) -> None:
    at, tape = evicted_at(name), recording(name).tape
    dead = [b"NodeStatusUnknown" in orjson.dumps(f) for f in tape.frames]
    if at is None or not any(dead):
        return
    frames = [frame for frame in tape.frames if frame["at"] < at]
    found = hits_of(judged(Lines(tape.header, frames)), nodes_of(name))
    for truth in recording(name).truth.workloads:
        if truth.hit_by == "node-failure" and truth.outcome in WAITING:
            assert [
                hit.outcome for hit in found if hit.name == truth.name
            ] != ["survived"]


@pytest.mark.parametrize("name", sampled("twice", NAMES, FEW))
def test_frames_that_come_twice_change_no_byte(name: str) -> None:
    other = VARIATIONS["repeat-frames"](recording(name), SEED)
    assert list(_bytes(other.tape, name)) == list(
        _bytes(recording(name).tape, name)
    )


@pytest.mark.parametrize("name", sampled("names", NAMES, FEW))
def test_other_names_change_nothing_but_names(name: str) -> None:
    def renamed(text: str) -> str:
        return re.sub(r"gpu-(?=[01]\d\d)", "h77-", text)

    tape = _rewritten(recording(name).tape, renamed)
    there = [renamed(node) for node in nodes_of(name)]
    here = said(recording(name).tape, nodes_of(name))
    assert said(tape, there) == json.loads(renamed(json.dumps(here)))


@pytest.mark.parametrize("name", sampled("order", NAMES, FEW))
def test_names_in_another_order_change_no_workload(name: str) -> None:
    def flipped(text: str) -> str:
        return re.sub(
            r"gpu-(\d\d\d)", lambda f: f"gpu-{999 - int(f[1])}", text
        )

    nodes = nodes_of(name)
    tape = _rewritten(recording(name).tape, flipped)
    other = hits_on(judged(tape), [flipped(node) for node in nodes])
    here = hits_on(judged(recording(name).tape), nodes)
    assert sorted(other) == sorted(flipped(hit) for hit in here)


@pytest.mark.parametrize("name", sampled("clocks", NAMES, FEW))
def test_other_clocks_change_nothing_but_times(name: str) -> None:
    def later(text: str) -> str:
        seconds = int(DAYS.total_seconds())
        text = re.sub(EPOCH, lambda f: str(int(f[0]) + seconds), text)
        return shifted(text, DAYS)

    tape = _rewritten(recording(name).tape, later)
    here = said(recording(name).tape, nodes_of(name))
    assert said(tape, nodes_of(name)) == json.loads(later(json.dumps(here)))


def hits_on(found: Judged, nodes: Sequence[str]) -> list[str]:
    """Return the reports on workloads, one text each."""
    return [
        f"{hit.first_node} {hit.hit_at} {hit.outcome} {hit.says}"
        for hit in hits_of(found, nodes)
    ]


def _bytes(tape: Lines, name: str) -> Iterator[bytes]:
    for one in said(tape, nodes_of(name)):
        yield orjson.dumps(one)


def _rewritten(tape: Lines, change: Any) -> Lines:
    header, *frames = json.loads(
        change(json.dumps([tape.header, *tape.frames]))
    )
    return Lines(header, frames)
