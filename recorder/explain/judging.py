"""Judging: chains to verdicts.

The order of the questions: what happened, was it decided and by whom, what
broke before it, when was the node back in service. What is not on record is
not made up: then the cause is `unrecorded`, and what would have told is said.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from recorder.explain.causes import DECISIONS, FAULTS, Case
from recorder.explain.chains import Chain
from recorder.explain.contradictions import contradictions
from recorder.explain.evidence import evidence_of
from recorder.explain.fleet import Fleet
from recorder.explain.halves import is_half
from recorder.explain.happenings import happening
from recorder.explain.missing import missing
from recorder.explain.rivals import rivals
from recorder.explain.sentences import sentence
from recorder.explain.signs import Sign, Subject
from recorder.explain.verdict import (
    CONFIDENCES,
    Decided,
    Faulted,
    Happened,
    Verdict,
)
from recorder.knowledge import Decision, Fault, Role
from recorder.model.fact import FactKind
from recorder.model.reference import EntryName

__all__ = ["Hole", "judge"]

STAYED = frozenset({Happened.DEGRADED, Happened.JOINED})
"""Happenings in which no node leaves service."""

STAYING = frozenset({Happened.DRAINED, Happened.CORDONED})

END: Final = datetime.max.replace(tzinfo=UTC)

NOT_LONG: Final = timedelta(seconds=30)
"""Between the deletion of a Node and the loss that it makes."""

OF_THE_NEW = frozenset(
    {Subject.KUBELET, Subject.SET_UP, Subject.WORD, Subject.REBOOTED}
)
"""What a kubelet says when it starts shows nothing of the state before."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A time for which the log does not vouch."""

    since: datetime
    until: datetime | None
    gap: EntryName | None = None
    """The entry that opened it, where it has one."""


def judge(
    chain: Chain,
    fleet: Fleet,
    *,
    holes: Iterable[Hole] = (),
    absent: Collection[str] = (),
) -> Verdict | None:
    """Return the verdict on a chain; None if nothing happened in it.

    Args:
        chain: what belongs together.
        fleet: the other nodes at the time.
        holes: times that the log cannot vouch for.
        absent: sources and resources that were never recorded.
    """
    found = happening(chain)
    if found is None:
        return None
    happened, effect = found
    case = Case(chain, happened, effect, fleet, absent)
    decided, broken = _decided(case), _faulted(case)
    if _is_panic(broken) and decided and decided.confidence == "possible":
        decided = None  # what may have been waiting was not waited for
    faulted = _tempered(case, broken, decided)
    against = contradictions(case)
    back = chain.back if happened not in STAYED else None
    before, after = _boots(chain, happened)
    hiding = _hiding(chain, effect, holes)
    holed = bool(hiding)
    evidence, left_out = evidence_of(case, decided, faulted)
    verdict = Verdict(
        node=chain.node,
        node_uid=chain.baseline.uid or chain.state.uid,
        happened=happened,
        effect=effect,
        boot_id_before=before,
        boot_id_after=after,
        between=(_last_proof(case), effect.stored.at),
        lost_at=_first_proof(case),
        back_in_service_at=(
            None
            if back is None
            else max(back.observed_at, effect.stored.observed_at)
        ),
        mode=_mode(case, decided, faulted, holed=holed),
        fault=faulted,
        decision=decided,
        began=chain.began.at,
        evidence=evidence,
        left_out=left_out,
        contradictions=against,
        gaps=sorted({hole.gap for hole in hiding if hole.gap is not None}),
    )
    verdict = replace(
        verdict,
        confidence=_confidence(case, verdict, holed=holed),
        rivals=rivals(case, verdict),
        missing=missing(case, verdict),
    )
    return replace(verdict, sentence=sentence(verdict))


def _decided(case: Case) -> Decided | None:
    if case.happened in STAYED and not case.decisions:
        return None
    for cause in DECISIONS:
        found = cause.find(case)
        if found is not None:
            decided = Decided(
                decision=cause.decision,
                actor=found.actor,
                sign=found.sign,
                confidence=found.confidence,
            )
            if found.actor is None and _was_gone(case, decided):
                # Whoever takes away what is long lost has a reason.
                return replace(decided, confidence="possible")
            return decided
    return None


def _is_panic(faulted: Faulted | None) -> bool:
    """Return whether it is proved that the machine went down by itself."""
    return faulted is not None and faulted.fault is Fault.KERNEL_PANIC


def _tempered(
    case: Case, faulted: Faulted | None, decided: Decided | None
) -> Faulted | None:
    """What a person meant by a drain, nobody recorded.

    And what comes up as another system was perhaps only upgraded. Who tells
    of a fault only in the boot after it lives in that boot, and cannot have
    seen the one before, whenever its clock says that it was.
    """
    if faulted is not None and _is_told_after(case, faulted.sign):
        faulted = replace(faulted, confidence="possible")
    if faulted is not None and decided is None:
        other = case.happened == Happened.REBOOT and case.chain.of(
            Subject.VERSION
        )
        if other:
            return replace(faulted, confidence="possible")
    by_hand = decided is not None and decided.decision is Decision.MANUAL_DRAIN
    if faulted is None or not by_hand or faulted.confidence != "proven":
        return faulted
    return replace(faulted, confidence="likely")


def _is_told_after(case: Case, fault: Sign) -> bool:
    """Return whether a node was shown in its new boot without a fault.

    A dump is of the boot before, and so is an Event that is dated so.
    """
    return (
        case.happened == Happened.REBOOT
        and fault.fault is not Fault.KERNEL_PANIC
        and fault.position > case.effect.position
        and fault.stored.fact.kind is FactKind.CONDITION_CHANGED
    )


def _faulted(case: Case) -> Faulted | None:
    if case.happened == Happened.JOINED:
        return None
    for cause in FAULTS:
        found = cause.find(case)
        if found is not None:
            return Faulted(
                fault=cause.fault,
                sign=found.sign,
                confidence=found.confidence,
            )
    return None


def _boots(chain: Chain, happened: str) -> tuple[str | None, str | None]:
    if happened == Happened.REBOOT:
        boots = chain.of(Subject.BOOT)
        if not boots:
            return None, chain.state.boot_id
        first, last = boots[0].stored.fact, boots[-1].stored.fact
        return first.detail["old"], last.detail["new"]
    before = chain.baseline.boot_id
    after = chain.state.boot_id if chain.state.present else None
    return before, after


def _first_proof(case: Case) -> datetime:
    """Return when the effect was first seen, or before it a loss of Ready."""
    times = [case.effect.stored.observed_at]
    if case.was_lost:
        times += [
            s.stored.observed_at for s in case.chain.of(Subject.READY)[:1]
        ]
    return min(times)


def _last_proof(case: Case) -> datetime | None:
    """Return when the old state was last shown."""
    times = [
        sign.stored.at
        for sign in case.chain.signs
        if sign.subject == Subject.SILENCE
        and sign.stored.at <= case.effect.stored.at
    ]
    if times:
        return max(times)
    before = [
        sign.stored.observed_at
        for sign in case.chain.signs
        if sign.position < case.effect.position
        and sign.subject not in OF_THE_NEW
    ]
    return max(before, default=None)


def _mode(
    case: Case,
    decided: Decided | None,
    faulted: Faulted | None,
    *,
    holed: bool,
) -> str:
    if case.happened == Happened.JOINED:
        return "unknown"
    if case.was_shut_down:
        return "planned"
    if decided is not None:
        if holed and decided.sign.stored.fact.detail.get("inferred"):
            return "unknown"  # it was seen with the effect, or as it
        # Whatever for, it was announced that the Node would go.
        said = decided.sign.vague and case.happened == Happened.REMOVED
        sure = said or decided.confidence != "possible"
        return (
            "planned" if sure and not _was_gone(case, decided) else "unknown"
        )
    stood = case.was_lost and case.chain.baseline.cordoned
    told = case.happened in STAYING or case.was_prepared or stood
    if told and not _is_panic(faulted):
        return "unknown"  # somebody decided, and did not say so
    return "unknown" if holed else "abrupt"


def _was_gone(case: Case, decided: Decided) -> bool:
    """Return whether a Node was deleted that was lost long before."""
    return (
        decided.decision is Decision.NODE_DELETION
        and case.was_lost
        and case.lost_at < decided.sign.stored.observed_at - NOT_LONG
        and any(
            s.position < decided.sign.position
            for s in case.chain.of(Subject.READY)
        )
    ) or (
        decided.decision is Decision.NODE_DELETION
        and case.chain.baseline.ready == "Unknown"
    )


def _hiding(
    chain: Chain, effect: Sign, holes: Iterable[Hole]
) -> Sequence[Hole]:
    """Return the times that the chain rests on and the log is silent about."""
    # By our own clock: a hole that ended before the first sign was seen ended
    # in a list, which showed how things stood.
    first = min(sign.stored.observed_at for sign in chain.signs)
    last = max(effect.stored.at, effect.stored.observed_at)
    if effect.subject == Subject.CORDON or len(chain.of(Subject.BOOT)) > 1:
        # What comes after it says whether the node was drained, or was back.
        last = END if chain.back is None else chain.back.observed_at
    answers = [s.stored.observed_at for s in _answers(chain, effect)]
    last = max([last, *answers])
    return [
        hole
        for hole in holes
        if hole.since <= last and (hole.until is None or hole.until >= first)
    ]


def _answers(chain: Chain, effect: Sign) -> list[Sign]:
    """Return what came of a fault of a node that is not seen to leave."""
    if effect.role is not Role.FAULT:
        return []
    return [s for s in chain.signs if s.position > effect.position]


def _confidence(case: Case, verdict: Verdict, *, holed: bool) -> str:
    parts: list[str] = []
    if verdict.fault is not None:
        parts.append(verdict.fault.confidence)
    if verdict.decision is not None:
        parts.append(verdict.decision.confidence)
    if not parts:
        joined = verdict.happened == Happened.JOINED
        return "proven" if joined and not holed else "unknown"
    least = min(parts, key=CONFIDENCES.index)
    hidden = holed and _may_hide(case)
    if verdict.contradictions or hidden or is_half(case, verdict):
        return min(least, "possible", key=CONFIDENCES.index)
    if holed:
        return CONFIDENCES[max(1, CONFIDENCES.index(least) - 1)]
    return least


def _may_hide(case: Case) -> bool:
    """Return whether what a gap hides may be another thing that happened.

    Evictions after a cordon, a cordon after a fault, a return between boots.
    """
    boots = case.chain.of(Subject.BOOT)
    return (
        case.happened == Happened.CORDONED
        or len(boots) > 1
        or bool(_answers(case.chain, case.effect))
    )
