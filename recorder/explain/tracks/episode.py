"""A chain: the signs that belong together, and how the node fared."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from recorder.explain.signals import Signal, Subject, Topic, is_order
from recorder.explain.signals.requests import author_of
from recorder.explain.thresholds import LIMITS
from recorder.facts.projections import NodeState
from recorder.model.fact import StoredFact
from recorder.model.outcomes import Role

__all__ = ["ATTACHED", "TELLING", "Episode"]


ATTACHED: Final = frozenset(
    {
        Topic.EVICTION,
        Topic.TAINT_EVICTION,
        Topic.SILENCE,
        Topic.VERSION,
        Topic.REBOOTED,
        Topic.WORD,
        Topic.REMOVING,
    }
)
"""Subjects that belong to a chain and never open one."""

HELD: Final = frozenset(
    {
        Topic.CONDITION,
        Topic.TAINT,
        Topic.LABEL,
        Topic.LOCK,
        Topic.ANNOTATION,
        Topic.GPUS,
    }
)
"""Topics that hold until they are said to be over."""


TELLING: Final = frozenset({Role.FAULT, Role.DECISION})
"""Roles of what holds until it is said to be over."""


class Episode:
    """What belongs together."""

    def __init__(
        self, node: str, baseline: NodeState, boots: Mapping[str, datetime]
    ) -> None:
        self.node = node
        self.baseline = baseline
        self.boots = boots
        """When each boot of the node was first seen."""

        self.proofs: Mapping[datetime, StoredFact] = {}
        """When the node itself was heard of, in the order of the log, each
        with the first fact that proves it; of all its episodes together."""

        self.skew = timedelta()
        """How far the clock of the node is ahead of ours; by it the claims
        of the node were corrected."""

        self.shown: Mapping[int, datetime] = {}
        """When the Node was shown last before an entry about it, by the
        position of that entry; of all its episodes together."""

        self.signals: list[Signal] = []
        self.marks: list[Signal] = []
        """What was written about the node that no rule knows."""

        self.before: Sequence[Signal] = ()
        """Signals of the episode before, of which an order holds still."""

        self.carried: list[Signal] = []
        """Signs of the chain before that held still."""

        self.state = baseline
        """Of the node after the last fact of the chain."""

        self.back: StoredFact | None = None
        """What showed that the node is back in service."""

        self.left_at: datetime | None = None
        """When it was first seen out of service."""

        self.ready_since: datetime | None = None
        """Since when the node is Ready, if it is."""

        self._begun: dict[Topic, list[Signal]] = {}
        """The signals of each topic that begin something."""

        self._held: dict[Subject, Signal] = {}
        self._quiet_since: datetime | None = None

    @property
    def alive(self) -> Collection[datetime]:
        """When the node itself was heard of."""
        return self.proofs.keys()

    @property
    def began(self) -> StoredFact:
        """The first sign, but for what held long before it.

        A recovery begins nothing: it ends what was before.
        """
        own = [
            s
            for s in self.signals
            if not self.is_carried(s) and s.role is not Role.RECOVERY
        ] or self.signals
        return min(own, key=lambda s: s.stored.at).stored

    def is_carried(self, sign: Signal) -> bool:
        """Return whether a sign held before the chain began."""
        return any(sign is carried for carried in self.carried)

    def of(self, topic: Topic) -> Sequence[Signal]:
        """Return the signals of one topic that begin something."""
        return self._begun.get(topic, ())

    def has(self, topic: Topic) -> bool:
        """Return whether there is such a sign."""
        return topic in self._begun

    def carry(self, signs: Iterable[Signal]) -> None:
        """Begin with what still holds of the chain before."""
        for sign in signs:
            self.carried.append(sign)
            self.take(sign)

    def take(self, sign: Signal) -> None:
        """Add a sign."""
        self.signals.append(sign)
        if not sign.over:
            self._begun.setdefault(sign.topic, []).append(sign)
        if sign.role is Role.EFFECT and sign.topic not in ATTACHED:
            self._quiet_since = None
        if sign.over:
            self._held.pop(sign.subject, None)
        elif sign.role in TELLING and sign.topic in HELD:
            self._held[sign.subject] = sign

    def note(self, stored: StoredFact, state: NodeState) -> None:
        """Take note of the node after a fact."""
        self.state = state
        if state.ready != "True":
            self.ready_since = None
        elif self.ready_since is None:
            self.ready_since = stored.observed_at
        if not state.in_service:
            self.left_at = self.left_at or stored.observed_at
            self.back = self._quiet_since = None
            return
        if self.back is None:
            self.back = stored
        self._quiet_since = (
            None if self._held else self._quiet_since or stored.observed_at
        )

    def is_over(self, at: datetime) -> bool:
        """Return whether nothing can belong to it any more."""
        if self._quiet_since is None:
            return False
        waited = at - self._quiet_since
        return waited > (LIMITS.linger if self.has_effect else LIMITS.patience)

    def reach(self) -> tuple[datetime, datetime | None] | None:
        """Return when what may belong to it was seen, with some time around.

        Without an end while it lasts; None where there is nothing.
        """
        own = [
            s for s in self.signals if not self.is_carried(s)
        ] or self.signals
        if not own:
            return None
        seen = [s.stored.observed_at for s in own]
        since = min(self.began.at, *seen) - LIMITS.patience
        if self.back is None or self._held:
            return since, None
        return since, max(self.back.observed_at, *seen) + LIMITS.patience

    @property
    def is_quiet(self) -> bool:
        """Whether the node is in service and nothing holds."""
        return self._quiet_since is not None

    @property
    def has_effect(self) -> bool:
        """Whether anything happened to the node, or what began is over."""
        return any(
            s.over
            or s.topic is Topic.CORDON
            or (s.role is Role.EFFECT and s.topic not in ATTACHED)
            for s in self.signals
        )

    def returned(self, at: datetime) -> bool:
        """Return whether the node left and has been back for a while."""
        return (
            self.left_at is not None
            and self.back is not None
            and at - self.back.observed_at > LIMITS.linger
        )

    def is_up_again(self, at: datetime) -> bool:
        """Return whether the node booted and has been Ready for a while."""
        return (
            self.has(Topic.BOOT)
            and self.ready_since is not None
            and at - self.ready_since > LIMITS.linger
        )

    def still_held(self, at: datetime) -> list[Signal]:
        """Return what is said of the node long after it came back.

        What is said from before a boot and not yet taken back right after
        it is no evidence for anything later.
        """
        if self.back is None:
            return self._said_since_ready()
        if at - self.back.observed_at <= LIMITS.patience:
            return []
        back = self.back.observed_at
        return [s for s in self._held.values() if not self._is_obeyed(s, back)]

    def open_orders(self, at: datetime) -> list[Signal]:
        """Return the orders that still hold, and that no boot carried out."""
        found: dict[Subject, Signal] = {}
        for mark in self.marks:
            if mark.topic in {Topic.LABEL, Topic.ANNOTATION}:
                found.pop(mark.subject, None)
                if is_order(mark) and at - mark.stored.at <= LIMITS.recent:
                    author = author_of(mark, self.signals)
                    found[mark.subject] = mark._replace(actor=author)
        return [] if self.has(Topic.BOOT) else [*found.values()]

    def _said_since_ready(self) -> list[Signal]:
        """Return what was said of a node that booted and was not yet back."""
        since = self.ready_since
        if since is None or not self.has(Topic.BOOT):
            return []
        said: dict[Subject, Signal] = {}
        for sign in self.signals:
            if sign.over:
                said.pop(sign.subject, None)
            elif (
                sign.role in TELLING
                and min(sign.stored.at, sign.stored.observed_at) > since
            ):
                said[sign.subject] = sign
        return [*said.values()]

    def _is_obeyed(self, sign: Signal, back: datetime) -> bool:
        """Return whether what was decided was done.

        Evidence of one boot serves no other.
        """
        return (
            sign.role is Role.DECISION
            and self.has(Topic.BOOT)
            and (sign.due is None or sign.due <= back)
        )
