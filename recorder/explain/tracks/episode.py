"""An episode: the signals that belong together, and the state of the node."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from recorder.explain.causes import FAULTS
from recorder.explain.knowledge.rules import MetricRule
from recorder.explain.signals.marks import is_order
from recorder.explain.signals.requests import author_of
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.explain.thresholds import LIMITS
from recorder.facts.projections import NodeState
from recorder.model.fact import StoredFact
from recorder.model.moment import LAST
from recorder.model.outcomes import Role
from recorder.model.state import Scalar

ATTACHED: Final = frozenset(
    {
        Topic.EVICTION,
        Topic.TAINT_EVICTION,
        Topic.SILENCE,
        Topic.VERSION,
        Topic.REBOOTED,
        Topic.WORD,
        Topic.REMOVING,
        Topic.CLIENT,
        Topic.STAGE,
    }
)
"""Subjects that belong to an episode and never open one."""

HELD: Final = frozenset(
    {
        Topic.CONDITION,
        Topic.TAINT,
        Topic.METADATA,
        Topic.LOCK,
        Topic.GPUS,
        Topic.CLAIMED_STATE,
    }
)
"""Topics that hold until a signal ends them."""


_ASKING: Final = frozenset({Topic.CONDITION, Topic.METADATA})
"""Topics of the orders that hold until they are taken back."""


LASTING: Final = frozenset({Role.FAULT, Role.DECISION})
"""Roles of signals that hold until another ends them."""


class Episode:
    """The signals that belong together."""

    claims: Sequence[StoredFact] = ()
    """What other systems said; for all its episodes together."""

    metrics: Mapping[str, MetricRule] = MappingProxyType({})
    """The rules of metrics, by their names."""

    machines: Mapping[str, Mapping[str, Scalar]] = MappingProxyType({})
    """The last fields of the Node in each boot; for all its episodes."""

    def __init__(
        self, node: str, baseline: NodeState, boots: Mapping[str, datetime]
    ) -> None:
        self.node = node
        self.baseline = baseline
        self.boots = boots
        """When each boot of the node was first seen."""

        self.proofs: Mapping[datetime, StoredFact] = {}
        """When the node itself was alive, in the order of the log, each with
        the first fact that proves it; for all its episodes together."""

        self.skew = timedelta()
        """How far the clock of the node is ahead of ours; the claims of the
        node were corrected by it."""

        self.shown: Mapping[int, datetime] = {}
        """When the Node was last shown before an entry about it, by the
        position of that entry; for all its episodes together."""

        self.signals: list[Signal] = []
        self.marks: list[Signal] = []
        """What was written about the node and has no rule."""

        self.before: Sequence[Signal] = ()
        """Signals of the previous episode, if an order in it still holds."""

        self.carried: list[Signal] = []
        """Signals of the previous episode that still held."""

        self.state = baseline
        """The state of the node after the last fact of the episode."""

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
    def written(self) -> Sequence[Signal]:
        """Its signals and its marks."""
        return [*self.signals, *self.marks]

    @property
    def alive(self) -> Collection[datetime]:
        """When the node itself was alive."""
        return self.proofs.keys()

    @property
    def began(self) -> StoredFact:
        """The first signal, except for those that held long before it.

        A recovery begins nothing: it ends an earlier signal. Nor does a
        request: what it changed is another signal.
        """
        own = [
            s
            for s in self.signals
            if s.topic is not Topic.REQUEST
            and s.role is not Role.RECOVERY
            and not self.is_carried(s)
        ]
        return min(own, key=lambda s: s.at).stored

    def is_carried(self, sign: Signal) -> bool:
        """Return whether a signal held before the episode began."""
        return any(sign is carried for carried in self.carried)

    def of(self, topic: Topic) -> Sequence[Signal]:
        """Return the signals of one topic that begin something."""
        return self._begun.get(topic, ())

    def has(self, topic: Topic) -> bool:
        """Return whether such a signal exists."""
        return topic in self._begun

    def carry(self, signs: Iterable[Signal]) -> None:
        """Begin with the signals of the previous episode that still hold."""
        for sign in signs:
            self.carried.append(sign)
            self.take(sign)

    def take(self, sign: Signal) -> None:
        """Add a signal."""
        self.signals.append(sign)
        if not sign.over:
            self._begun.setdefault(sign.topic, []).append(sign)
        if sign.role is Role.EFFECT and sign.topic not in ATTACHED:
            self._quiet_since = None
        elif self.is_quiet and sign.fault and FAULTS[sign.fault].explains_loss:
            # What is reported again still holds.
            self._quiet_since = sign.seen
        if sign.over:
            self._held.pop(sign.subject, None)
        elif sign.role in LASTING and sign.topic in HELD:
            self._held[sign.subject] = sign

    def note(self, stored: StoredFact, state: NodeState) -> None:
        """Record the state of the node after a fact."""
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

    def hear(self, stored: StoredFact, signs: Iterable[Signal]) -> None:
        """Record what Events alone show of a node that was not seen yet."""
        for sign in signs:
            if sign.topic is not Topic.READY:
                continue
            if not sign.over:
                self.left_at, self.back = stored.observed_at, None
            elif self.back is None:
                self.back = stored

    def is_over(self, at: datetime) -> bool:
        """Return whether no later signal can belong to it."""
        if self._quiet_since is None:
            return False
        waited = at - self._quiet_since
        return waited > (LIMITS.linger if self.has_effect else LIMITS.patience)

    def reach(self) -> tuple[datetime, datetime]:
        """Return the time in which its signals were observed, with a margin.

        It ends with all time while the episode lasts.
        """
        seen = [s.seen for s in self.signals if not self.is_carried(s)]
        since = min(self.began.at, *seen) - LIMITS.patience
        if self.back is None or self._held:
            return since, LAST
        return since, max(self.back.observed_at, *seen) + LIMITS.patience

    @property
    def is_quiet(self) -> bool:
        """Whether the node is in service and nothing holds."""
        return self._quiet_since is not None

    @property
    def has_effect(self) -> bool:
        """Whether something happened to the node, or a signal was ended.

        An order may be removed as it is carried out, before that shows.
        """
        orders = {s.subject for s in self.signals if s.decision and not s.over}
        return any(
            (s.over and s.subject not in orders)
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
        """Return the signals that hold although the node came back.

        A decision from before a boot is no evidence for anything later; of
        repeated boots, a fault that is not ended stays the cause.
        """
        broken = [s for s in self._held.values() if s.role is Role.FAULT]
        if self.back is None:
            said = self._said_since_ready()
            return [*broken, *(s for s in said if s not in broken)]
        if at - self.back.observed_at <= LIMITS.patience:
            return broken
        back = self.back.observed_at
        return [s for s in self._held.values() if not self._is_obeyed(s, back)]

    def open_orders(self, at: datetime) -> list[Signal]:
        """Return the orders that still hold and that no boot carried out."""
        found: dict[Subject, Signal] = {}
        for mark in self.marks:
            if mark.topic in _ASKING:
                found.pop(mark.subject, None)
                if is_order(mark) and at - mark.at <= LIMITS.recent:
                    author = author_of(mark, self.signals)
                    found[mark.subject] = mark._replace(actor=author)
        return [] if self.has(Topic.BOOT) else [*found.values()]

    def _said_since_ready(self) -> list[Signal]:
        """Return the signals of a node that booted and was not yet back."""
        since = self.ready_since
        if since is None or not self.has(Topic.BOOT):
            return []
        said: dict[Subject, Signal] = {}
        for sign in self.signals:
            if sign.over:
                said.pop(sign.subject, None)
            elif sign.role in LASTING and min(sign.at, sign.seen) > since:
                said[sign.subject] = sign
        return [*said.values()]

    def _is_obeyed(self, sign: Signal, back: datetime) -> bool:
        """Return whether a decision was carried out.

        Evidence of one boot is no evidence of another.
        """
        return (
            sign.role is Role.DECISION
            and self.has(Topic.BOOT)
            and (sign.due is None or sign.due <= back)
        )
