"""The end of one Pod, from the facts about the Pod.

The first reason counts, not what was recorded afterwards: a container that
is killed because its Pod was evicted did not fail by itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from recorder.facts.projections import (
    EVICTIONS,
    PREEMPTING,
    UNKNOWN_ENDS,
    Placement,
)
from recorder.model.fact import StoredFact
from recorder.model.facts import (
    ConditionChanged,
    ContainerEnded,
    DeletionRequested,
    Ended,
    EventOccurred,
    Vanished,
)
from recorder.model.outcomes import EndedBy
from recorder.model.reference import ObjectIdentity

__all__ = ["BY_ITSELF", "PodEnd", "ends_of"]

BY_ITSELF: Final = frozenset({EndedBy.CONTAINER_OOM, EndedBy.CONTAINER_EXIT})
"""Ends that are caused by a container of the Pod."""

OOM_KILLED: Final = "OOMKilled"

DISRUPTED: Final[Mapping[str, EndedBy]] = {
    "PreemptionByScheduler": EndedBy.PREEMPTION,
    "DeletionByPodGC": EndedBy.NODE_FAILURE,
    **dict.fromkeys(EVICTIONS, EndedBy.EVICTION),
}
"""The cause by the reason of the condition DisruptionTarget, if nothing that
happened to the node explains it."""

AT_ONCE: Final = timedelta(seconds=2)
"""How far apart the deletion of a Pod and its reason are observed; what is
recorded later came after the deletion."""

REFUSED: Final[Mapping[str, EndedBy]] = {
    "DeadlineExceeded": EndedBy.DEADLINE,
    "NodeLost": EndedBy.NODE_FAILURE,
    PREEMPTING: EndedBy.PREEMPTION,
}
"""The cause by the reason of a failed Pod; other reasons are of kubelets."""


class PodEnd(msgspec.Struct, frozen=True, kw_only=True):
    """One end of a Pod, or of a container that restarted."""

    pod: ObjectIdentity
    node: str | None
    at: datetime
    """When its first record was observed."""

    by: EndedBy
    evidence: Sequence[StoredFact]
    """The first record of it, then those that followed."""

    container: ContainerEnded | None = None
    lasting: bool = True
    """Whether the Pod itself ended."""


def ends_of(pod: Placement, facts: Iterable[StoredFact]) -> Iterator[PodEnd]:
    """Yield every end of a Pod, in the order of the log.

    Args:
        pod: the Pod and its node.
        facts: about the Pod itself, in the order of the log.
    """
    record = _Record(pod)
    for stored in sorted(facts, key=_in_order):
        detail = stored.fact.detail
        match detail:
            case ContainerEnded(init=False):
                yield from record.container(stored, detail)
            case ContainerEnded() if detail.exit_code:
                yield from record.container(stored, detail)
            case ConditionChanged(type="DisruptionTarget", new=new) if (
                new is not None and new.status == "True"
            ):
                record.sign(stored, DISRUPTED.get(new.reason or ""))
            case DeletionRequested():
                record.sign(stored, EndedBy.DELETION)
            case EventOccurred() if str(stored.entry) == pod.displaced_by:
                record.sign(stored, DISRUPTED.get(pod.disruption or ""))
            case Ended() | Vanished():
                record.over(stored, detail)
            case _:
                pass
    yield from record.close()


def _in_order(stored: StoredFact) -> tuple[int, bool]:
    """Order the facts of one version: why a Pod ends precedes its end."""
    detail = stored.fact.detail
    return stored.entry.position, not isinstance(detail, ConditionChanged)


class _Record:
    """The facts about one Pod so far."""

    def __init__(self, pod: Placement) -> None:
        self._pod = pod
        self._signs: list[StoredFact] = []
        self._by: EndedBy | None = None
        self._failed: tuple[StoredFact, ContainerEnded] | None = None
        self._over = False

    def sign(self, stored: StoredFact, by: EndedBy | None) -> None:
        """Take a reason for the Pod to end; the first counts."""
        if by is None or self._over:
            return
        self._signs.append(stored)
        since = self._signs[0].observed_at
        if self._by is None or (
            # The deletion and its reason come in either order.
            self._by is EndedBy.DELETION
            and stored.observed_at - since <= AT_ONCE
        ):
            self._by = by

    def container(
        self, stored: StoredFact, detail: ContainerEnded
    ) -> Iterator[PodEnd]:
        """Take the end of a container; yield the end before it, if any."""
        if self._by is not None:
            self._signs.append(stored)
            return
        if self._failed is not None:
            yield self._failure(*self._failed, [])
            self._failed = None
        if detail.exit_code or detail.signal or detail.reason == OOM_KILLED:
            self._failed = stored, detail

    def over(self, stored: StoredFact, detail: Ended | Vanished) -> None:
        """Take the end or the disappearance of the Pod."""
        self._signs.append(stored)
        if self._over:
            return
        self._over = True
        if self._by is EndedBy.EVICTION and (
            isinstance(detail, Ended) and detail.reason == PREEMPTING
        ):
            self._by = EndedBy.PREEMPTION
        if self._by is not None:
            return
        if isinstance(detail, Ended):
            if detail.phase == "Succeeded":
                self._by = EndedBy.COMPLETION
            elif detail.reason is not None:
                self._by = REFUSED.get(detail.reason, EndedBy.EVICTION)
        elif self._failed is None:
            self._by = (
                EndedBy.UNRECORDED if detail.inferred else EndedBy.DELETION
            )

    def close(self) -> Iterator[PodEnd]:
        """Yield the end of the Pod, if it ended."""
        alone = self._by is None
        if self._failed is not None:
            signs = self._signs if alone and self._over else []
            yield self._failure(*self._failed, signs)
        if self._signs and not (alone and self._failed is not None):
            yield self._end(self._by or EndedBy.UNRECORDED, self._signs)

    def _failure(
        self,
        stored: StoredFact,
        detail: ContainerEnded,
        signs: Sequence[StoredFact],
    ) -> PodEnd:
        """Return the end of a container, with the signs if its Pod ended."""
        by = EndedBy.CONTAINER_EXIT
        if detail.reason == OOM_KILLED:
            by = EndedBy.CONTAINER_OOM
        elif detail.reason in UNKNOWN_ENDS:
            by = EndedBy.UNRECORDED
        return self._end(by, [stored, *signs], detail, lasting=bool(signs))

    def _end(
        self,
        by: EndedBy,
        evidence: Sequence[StoredFact],
        container: ContainerEnded | None = None,
        *,
        lasting: bool = True,
    ) -> PodEnd:
        return PodEnd(
            pod=self._pod.pod,
            node=self._pod.node,
            at=evidence[0].observed_at,
            by=by,
            evidence=[*evidence],
            container=container,
            lasting=lasting,
        )
