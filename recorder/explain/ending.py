"""An ending: what ended a workload or Pods of it, and what became of it."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from recorder.explain.hit import Hit
from recorder.explain.signals import Actor
from recorder.explain.verdict import Judged, Missing
from recorder.model.fact import StoredFact
from recorder.model.facts import ContainerEnded
from recorder.model.outcomes import Confidence, EndedBy, Outcome

__all__ = ["Ending"]


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What ended a workload, or Pods of it, at one time."""

    ended_by: EndedBy
    at: datetime
    """When its first sign was observed; of a container that failed again
    and again, of the last time."""

    pods: Sequence[str]
    """The Pods that it ended, by name; none if it ended the workload
    itself."""

    stopped: Sequence[str] = ()
    """The Pods that were stopped because the workload did not go on."""

    node: str | None = None
    count: int = 1
    """How often a container failed so, one after the other."""

    first_at: datetime | None = None
    """The first of these times."""

    container: ContainerEnded | None = None
    """The container that failed by itself."""

    outcome: Outcome | None = None
    """What became of the workload; None where it ended with it."""

    running_again_at: datetime | None = None
    actor: Actor | None = None
    """Who deleted or suspended it, where audit says so."""

    hit: Hit | None = None
    verdict: Judged | None = None
    """What happened to the node, where that ended the Pods."""

    confidence: Confidence = Confidence.PROVEN
    """That this is what ended them."""

    routine: bool = False
    """Whether it is the daily life of a workload that goes on: a Pod that is
    done, or that a Deployment replaces. Only who asks for the Pod wants
    it."""

    evidence: Sequence[StoredFact] = ()
    """In the order of the log."""

    missing: Sequence[Missing] = ()
    sentence: str = ""

    @property
    def entries(self) -> Sequence[str]:
        """The names of the entries that record it."""
        names = [str(stored.entry) for stored in self.evidence]
        return list(dict.fromkeys(names))
