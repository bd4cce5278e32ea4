"""Judging a tape in memory: its entries to facts, its facts to verdicts."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recorder.answers.loading.nodes import is_about
from recorder.explain import verdict as answer
from recorder.explain.answer import judge
from recorder.explain.knowledge import Knowledge, shipped
from recorder.explain.needs import is_request_about, objects_asked_for
from recorder.explain.thresholds import STRENGTHS
from recorder.explain.tracks.episodes import episodes_of
from recorder.explain.tracks.fleet import Fleet
from recorder.facts import State, derive, is_compared
from recorder.facts.coverage.hole import Hole
from recorder.model.entry import Draft, Operation
from recorder.model.fact import FactKind, StoredFact
from recorder.model.observation import AUDIT
from recorder.model.reference import EntryName
from tests.corpus import truth as expected
from tests.corpus.playing import played
from tests.corpus.tape_lines import Lines

__all__ = ["Judged", "differences", "facts_of", "holes_of", "judged"]

COMPARED = (
    "happened",
    "mode",
    "cause",
    "fault",
    "decision",
    "boot_id_before",
    "boot_id_after",
    "back_in_service",
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A tape with its facts and gaps."""

    facts: Sequence[StoredFact]
    holes: Sequence[Hole]
    audited: bool
    unheard: Sequence[Hole] = ()
    """When Pods were not observed."""

    rules: Knowledge = field(default_factory=shipped)

    def _about(self, node: str) -> list[StoredFact]:
        named = [f for f in self.facts if is_about(f, node, self.rules)]
        objects = objects_asked_for(named)
        return [
            f
            for f in self.facts
            if is_about(f, node, self.rules)
            or is_request_about(f.fact, objects)
        ]

    def verdicts(self, node: str) -> list[answer.Verdict]:
        """Return the verdicts on a node."""
        mine = self._about(node)
        fleet = Fleet(self.facts)
        return [
            verdict
            for chain in episodes_of(node, mine, self.rules)
            for verdict in judge(
                chain,
                fleet,
                holes=self.holes,
                absent=() if self.audited else (AUDIT,),
            )
        ]


def judged(tape: Lines) -> Judged:
    """Play a tape and derive its facts."""
    drafts = played(tape).drafts
    facts = list(facts_of(drafts))
    audited = any(f.fact.kind is FactKind.REQUESTED for f in facts)
    unheard = holes_of(drafts, "v1/pods")
    return Judged(facts, holes_of(drafts), audited, unheard)


def facts_of(drafts: Iterable[Draft]) -> Iterable[StoredFact]:
    """Derive facts from entries, keeping the states between them."""
    states: dict[Any, State] = {}
    for position, draft in enumerate(drafts, start=1):
        key = draft.resource, draft.identity
        before = states.get(key) if is_compared(draft) else None
        derived = derive(draft, before)
        if is_compared(draft):
            if derived.state is None:
                states.pop(key, None)
            else:
                states[key] = derived.state
        for index, fact in enumerate(derived.facts):
            yield StoredFact(
                entry=EntryName(1, position),
                index=index,
                observed_at=draft.observed_at,
                fact=fact,
            )


def holes_of(
    drafts: Iterable[Draft], resource: str | None = None
) -> list[Hole]:
    """Return the gaps that a log has recorded, of all or of one resource."""
    recorded = [
        json.loads(draft.raw)
        for draft in drafts
        if draft.operation is Operation.GAP_CLOSED
        and resource in {None, draft.resource}
    ]
    return [
        Hole(
            since=datetime.fromisoformat(gap["from"]),
            until=datetime.fromisoformat(gap["to"]),
        )
        for gap in recorded
        if gap.get("from") and gap.get("to")
    ]


def differences(
    truths: Sequence[expected.Verdict], verdicts: Sequence[answer.Verdict]
) -> list[str]:
    """Return where verdicts on one node differ from the truth."""
    if len(truths) != len(verdicts):
        got = [f"{v.happened} {v.cause}: {v.sentence}" for v in verdicts]
        want = [f"{v.happened} {v.cause}" for v in truths]
        return [f"{len(got)} verdicts, not {len(want)}: {got}, not {want}"]
    return [
        said
        for truth, verdict in zip(truths, verdicts, strict=True)
        for said in _different(truth, verdict)
    ]


def _different(
    truth: expected.Verdict, verdict: answer.Verdict
) -> Iterable[str]:
    fault, decision = verdict.fault, verdict.decision
    back: bool | None = verdict.back_in_service_at is not None
    if verdict.happened in {"degraded", "joined"}:
        back = None
    got = {
        "happened": verdict.happened,
        "mode": verdict.mode,
        "cause": verdict.cause,
        "fault": None if fault is None else fault.fault.value,
        "decision": None if decision is None else decision.decision.value,
        "boot_id_before": verdict.boot_id_before,
        "boot_id_after": verdict.boot_id_after,
        "back_in_service": back,
    }
    for name in COMPARED:
        want = getattr(truth, name)
        if want is None and name.startswith(("boot_id", "back")):
            continue
        if got[name] not in [want, *truth.accept.get(name, [])]:
            yield f"{name} is {got[name]}, not {want}: {verdict.sentence}"
    at_most = STRENGTHS.index(truth.confidence_at_most)
    if STRENGTHS.index(verdict.confidence) > at_most:
        yield (
            f"confidence is {verdict.confidence}, at most"
            f" {truth.confidence_at_most}: {verdict.sentence}"
        )
    yield from _actors(truth, verdict)


def _actors(truth: expected.Verdict, verdict: answer.Verdict) -> Iterable[str]:
    if truth.actor is None:
        return
    actor = verdict.decision.actor if verdict.decision is not None else None
    kind = "unknown" if actor is None else actor.kind
    name = None if actor is None else actor.name
    if kind not in truth.actor.kinds or (
        truth.actor.name is not None and name != truth.actor.name
    ):
        yield f"actor is {kind} {name}, not {truth.actor}"
    if name in truth.actor.never:
        yield f"actor is {name}, who cannot be known"
