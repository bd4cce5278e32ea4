"""Rivals: other causes, what excludes them, and which evidence is missing."""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from recorder.explain.breadth import shared_place, together
from recorder.explain.causes import FAULTS, LOST
from recorder.explain.signals.actor import is_same
from recorder.explain.signals.signal import Topic
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Missing, Rival, Verdict
from recorder.model.observation import AUDIT, EVENTS, LEASES, PODS
from recorder.model.outcomes import (
    ActorKind,
    Confidence,
    Decision,
    Fault,
    Happened,
)

REPORTED_MAX: Final = 3
"""How many reports without a rule are named."""


def rivals(transition: Transition, verdict: Verdict) -> list[Rival]:
    """Return the other causes of what happened, in a fixed order."""
    found: Iterable[Rival]
    match verdict.happened:
        case Happened.REBOOT:
            found = _of_reboot(transition, verdict)
        case Happened.UNREACHABLE:
            found = _of_silence(transition, verdict)
        case Happened.KUBELET_RESTART:
            found = [_no_reboot(transition, verdict)]
        case Happened.REJOINED | Happened.REPLACED | Happened.REMOVED:
            found = _of_removal(transition, verdict)
        case Happened.DRAINED | Happened.CORDONED:
            found = _of_cordon(transition)
        case _:
            found = []
    own = {str(verdict.cause)}
    if verdict.decision is not None:
        own.add(str(verdict.decision.decision))
    others = [rival for rival in found if rival.cause not in own]
    return [*others, *_reported(transition, verdict)]


def _reported(transition: Transition, verdict: Verdict) -> Iterator[Rival]:
    """Yield what was reported before and has no rule, as causes."""
    if verdict.fault is None and verdict.happened in LOST | {
        Happened.DEGRADED
    }:
        for mark in transition.reported[-REPORTED_MAX:]:
            says = f"{mark.says} ({mark.entry})"
            yield _rival(Fault.OTHER, f"{says}: reported, meaning not known")


def _rival(cause: str, because: str, *, excluded: bool = False) -> Rival:
    return Rival(cause=str(cause), excluded=excluded, because=because)


def _of_reboot(transition: Transition, verdict: Verdict) -> Iterator[Rival]:
    boot = f"the boot ID changed ({transition.effect.entry})"
    yield _rival(Fault.PARTITION, boot, excluded=True)
    yield _rival(Fault.KUBELET, boot, excluded=True)
    decided, fault = verdict.decision, verdict.fault
    abrupt = (Fault.KERNEL_PANIC, Fault.POWER_LOSS)
    excluded: Collection[Fault] = abrupt
    if transition.shutdown is not None:
        says = f"it shut down in order ({transition.shutdown.entry})"
    elif decided is not None and decided.confidence is Confidence.PROVEN:
        says = f"a decision preceded it ({decided.sign.entry})"
    elif fault is not None and fault.fault is Fault.KERNEL_PANIC:
        says = f"its kernel panicked ({fault.sign.entry})"
    elif fault is not None and fault.sign.excludes:
        says = f"the machine recorded another cause ({fault.sign.entry})"
        excluded = fault.sign.excludes
    else:
        silent = "nothing recorded on the machine confirms it or rules it out"
        yield _rival(Fault.KERNEL_PANIC, silent)
        yield _rival(Fault.POWER_LOSS, _power(transition))
        return
    for one in abrupt:
        if one in excluded:
            yield _rival(one, says, excluded=True)
        else:
            yield _rival(one, "the machine's record does not rule it out")


def _power(transition: Transition) -> str:
    fleet, node = transition.fleet, transition.episode.node
    alike, shared = fleet.of_one_machine(node), shared_place(transition)
    if alike:
        return (
            f"{', '.join(alike)} booted with the same boot ID: they are one"
            " machine"
        )
    if shared is not None:
        others = ", ".join(sorted(shared.agree - {node}))
        return f"{others} of {shared.place} went down with it"
    if fleet.places(node, transition.lost_at):
        return (
            "its neighbors stayed up, so the rack kept power; this machine"
            " alone may have lost it"
        )
    return "no label shows which nodes share its power supply"


def _no_reboot(transition: Transition, verdict: Verdict) -> Rival:
    reported = {s.entry for s in transition.episode.of(Topic.REBOOTED)}
    for one in verdict.contradictions:
        if one.entry in reported:
            said = f"the kubelet reports one ({one.entry}), but {one.but}"
            return _rival("reboot", said)
    boot = transition.episode.state.boot_id
    if transition.episode.baseline.uid is None:
        return _rival("reboot", "the boot ID before it is not recorded")
    unchanged = f"the boot ID is unchanged ({boot})"
    return _rival("reboot", unchanged, excluded=True)


def _of_silence(transition: Transition, verdict: Verdict) -> list[Rival]:
    stayed = says = "other nodes stayed reachable"
    if len(together(transition)) >= len(transition.fleet.nodes):
        says = "every node was lost at the same time"
    elif verdict.hiding:
        says = "a gap hides whether other nodes stayed reachable"
    start = "no kubelet start ended the outage"
    return [
        _no_reboot(transition, verdict),
        _rival(Fault.KUBELET, start, excluded=True),
        _rival(Fault.CONTROL_PLANE, says, excluded=says == stayed),
    ]


def _of_removal(transition: Transition, verdict: Verdict) -> Iterator[Rival]:
    decided, orderly = verdict.decision, transition.shutdown
    guessed = (
        decided is None
        or decided.is_by_unknown
        or decided.confidence is Confidence.POSSIBLE
    )
    for decision in (
        Decision.SCALE_DOWN,
        Decision.PREEMPTION,
        Decision.HOST_MAINTENANCE,
    ):
        said = [s for s in transition.decisions if s.decision is decision]
        if not said and orderly and guessed:
            because = f"it shut down in order ({orderly.entry})"
            yield _rival(decision, f"{because}; for what is not recorded")
            continue
        if not said:
            because = "no notice, taint or Event preceded it"
        elif decided is not None and (
            is_same(said[0].actor, decided.actor)
            or is_same(said[0].actor, decided.carried_out_by)
            or decided.sign.position < said[0].position
        ):
            because = f"it was decided before ({decided.sign.entry})"
        else:
            yield _rival(decision, f"it was announced ({said[0].entry})")
            continue
        yield _rival(decision, because, excluded=True)


def _of_cordon(transition: Transition) -> list[Rival]:
    boot = transition.episode.has(Topic.BOOT)
    fault = min(transition.faults, key=lambda s: s.order, default=None)
    says = f"a fault preceded it ({fault.entry})" if fault else ""
    repair, none = Decision.AUTO_REMEDIATION, "no fault preceded it"
    return [
        _rival(repair, says or none, excluded=not says),
        _rival("reboot", "the boot ID is unchanged", excluded=not boot),
    ]


def missing(transition: Transition, verdict: Verdict) -> list[Missing]:
    """Return the sources that are not recorded and what they would show."""
    found = [
        Missing(evidence=evidence, would_tell=shows)
        for absent, evidence, shows in _unheard(verdict)
        if absent in transition.absent
    ]
    unseen = transition.fleet.unseen_dpus.get(transition.episode.node)
    if unseen is not None and verdict.happened in LOST:
        shows = "whether its DPU failed before"
        found.append(Missing(evidence=unseen, would_tell=shows))
    if (
        verdict.decision is None
        and verdict.happened == Happened.REBOOT
        and not transition.shutdown
        and verdict.confidence is not Confidence.PROVEN
    ):
        known, shown = list[Fault](), verdict.fault
        if shown is not None and shown.sign.excludes:
            # A record of the machine shows or denies them.
            known = [shown.fault, *shown.sign.excludes]
        proofs = [
            row.proof
            for fault, row in FAULTS.items()
            if row.proof and fault not in known
        ]
        found += sorted(proofs, key=lambda one: one.evidence)
    if (
        verdict.happened == Happened.REBOOT
        and transition.first(Topic.SHUTDOWN) is None
    ):
        found.append(
            Missing(
                evidence="shutdownGracePeriod",
                would_tell="whether the shutdown was orderly: without this"
                " setting, kubelets do not announce shutdowns",
            )
        )
    return found


def _unheard(verdict: Verdict) -> Iterator[tuple[str, str, str]]:
    """Yield each source that may be missing, its name, and what it shows."""
    happened, decided = verdict.happened, verdict.decision
    # What a cloud decides by itself, no request of the cluster shows.
    by_cloud = decided is not None and decided.actor.kind is ActorKind.CLOUD
    if happened != Happened.DEGRADED and not by_cloud:
        yield AUDIT, "audit", _audit(verdict)
    yield EVENTS, "events", "what its kubelet and controllers reported"
    if happened in {Happened.CORDONED, Happened.DRAINED}:
        yield PODS, "pods", "which of its Pods were evicted"
    if happened in {Happened.REBOOT, Happened.UNREACHABLE}:
        yield LEASES, "leases", "when its kubelet was last heard from"


def _audit(verdict: Verdict) -> str:
    decided = verdict.decision
    if decided is None:
        return "whether anyone requested it"
    if decided.actor.name is None:
        return f"who decided on the {decided.decision.value}"
    return f"who acted through {decided.actor.name}"
