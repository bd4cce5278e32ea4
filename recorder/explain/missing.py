"""Sources that would have shown more, had they been recorded."""

from collections.abc import Iterator

from recorder.explain.causes import FAULTS
from recorder.explain.signals import Topic
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Judged, Missing
from recorder.model.observation import AUDIT
from recorder.model.outcomes import Confidence, Happened

__all__ = ["EVENTS", "LEASES", "NODES", "PODS", "missing"]

EVENTS = "v1/events"
NODES = "v1/nodes"
PODS = "v1/pods"
LEASES = "coordination.k8s.io/v1/leases"
"""Resources of which a log may hold nothing, if it does not watch them."""


def missing(transition: Transition, verdict: Judged) -> list[Missing]:
    """Name the sources that were not there and what they would tell."""
    found = [
        Missing(evidence=evidence, would_tell=tells)
        for absent, evidence, tells in _unheard(verdict)
        if absent in transition.absent
    ]
    decided = verdict.decision
    abrupt = decided is None and verdict.happened == Happened.REBOOT
    if abrupt and (
        verdict.fault is None or verdict.confidence is not Confidence.PROVEN
    ):
        proofs = sorted(row.proof for row in FAULTS.values() if row.proof)
        found += [
            Missing(evidence=one.evidence, would_tell=one.would_tell)
            for one in proofs
        ]
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


def _unheard(verdict: Judged) -> Iterator[tuple[str, str, str]]:
    """Yield what may not be recorded, its name, and what it would tell."""
    happened = verdict.happened
    if happened != Happened.DEGRADED:
        yield AUDIT, "audit", _audit(verdict)
    yield EVENTS, "events", "what its kubelet and controllers reported"
    if happened in {Happened.CORDONED, Happened.DRAINED}:
        yield PODS, "pods", "which of its Pods were evicted"
    if happened in {Happened.REBOOT, Happened.UNREACHABLE}:
        yield LEASES, "leases", "when its kubelet was last heard from"


def _audit(verdict: Judged) -> str:
    decided = verdict.decision
    if decided is None:
        return "whether anyone requested it"
    if decided.actor.name is None:
        return f"who decided on the {decided.decision.value}"
    return f"who acted through {decided.actor.name}"
