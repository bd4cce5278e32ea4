"""Episodes: from the first signal until the node is back in service.

An episode opens with a signal that something is or will be wrong with a node,
and closes when the node is in service and no signal about it holds any more.
Signals a moment later still belong to it, because reporters are asynchronous;
a new trouble does not: `begins_anew` decides it.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from recorder.explain.knowledge import Knowledge
from recorder.explain.signals import signals_of
from recorder.explain.signals.around import is_listed
from recorder.explain.signals.marks import (
    is_bad,
    is_order,
    is_trouble,
    marks_of,
)
from recorder.explain.signals.node import Cables, standing
from recorder.explain.signals.requests import cordons_by, unwatched
from recorder.explain.signals.signal import Signal, Subject, Topic, is_unseen
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.bounds import (
    NODE_CONTROLLER,
    STARTS,
    boot_named,
    boots_reported,
    created_at,
    is_explained,
    is_first_sight,
    is_loss,
)
from recorder.explain.tracks.clocks import (
    KUBELET,
    NO_SKEW,
    life_proved,
    synchronized,
)
from recorder.explain.tracks.episode import ATTACHED, LASTING, Episode
from recorder.explain.tracks.transition import latest
from recorder.explain.tracks.transitions import are_two
from recorder.facts.projections import NodeState, advance, provider_of, shown
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import (
    Appeared,
    BootChanged,
    ConditionChanged,
    EventOccurred,
    Vanished,
)
from recorder.model.moment import LAST
from recorder.model.outcomes import Fault, Role
from recorder.model.reference import EntryName

REPORTED: Final = frozenset({FactKind.EVENT, FactKind.CLAIMED})
"""Kinds of facts that may be reported long after they happened."""


def episodes_of(
    node: str,
    facts: Iterable[StoredFact],
    knowledge: Knowledge,
    base: NodeState | None = None,
) -> list[Episode]:
    """Return the episodes of a node, by the facts about it, in order.

    ``base`` is the node before the first fact.
    """
    ordered, base = list(facts), base or NodeState()
    knowledge = knowledge.of_cloud(provider_of(ordered, base))
    reader = _Reader(node, knowledge, base, Cables(node, ordered))
    reader.created = created_at(ordered)
    reader.cordons = unwatched(ordered)
    known, skews = synchronized(node, ordered)
    reader.reported = boots_reported(known)
    for stored, skew in zip(known, skews, strict=True):
        reader.read(stored, skew)
    claims = [s for s in ordered if s.fact.kind is FactKind.CLAIMED]
    for one in reader.chains:
        one.metrics, one.claims = knowledge.metrics, claims
    return reader.chains


class _Reader:
    """Reads facts one after another."""

    def __init__(
        self, node: str, knowledge: Knowledge, base: NodeState, cables: Cables
    ) -> None:
        self._cables = cables
        self.cordons: Mapping[EntryName, bool] = {}
        self.reported: Mapping[str, datetime] = {}
        self.chains: list[Episode] = []
        self._node, self._knowledge = node, knowledge
        self._state = base
        self._skew = NO_SKEW
        """How far its clock is ahead, in the boot of the last fact."""

        self._open: Episode | None = None
        self._loose: deque[Signal] = deque(maxlen=200)
        self._marks: deque[Signal] = deque(maxlen=200)
        self._held: dict[Subject, Signal] = {}
        """Signals from before the node was first seen, by subject."""

        self._proofs: dict[datetime, StoredFact] = {}
        # The first explains every Event that names it: its time is not known.
        first = [base.boot_id] if base.boot_id else []
        self._boots = dict.fromkeys(first, LAST)
        self._machines = dict.fromkeys(first, base.fields)
        self._shown: dict[int, datetime] = {}
        """When a Node was last shown before an entry about it."""

        self._last: datetime | None = None
        self._seen_at: datetime | None = None
        """When the node was first seen, if that is among the facts read."""

        self.created: datetime | None = None
        """When the Node was created that is seen first, if that is known."""

    def read(self, stored: StoredFact, skew: timedelta) -> None:
        self._skew = skew
        fact = stored.fact
        about = fact.is_of_node
        is_new = about and self._state.uid is None
        if is_new and fact.kind is FactKind.VANISHED:
            self._see(stored)  # for the first time, and for the last
        before = self._state
        if about:
            stored = self._dated(stored)
            self._advance(stored)
        alive = life_proved(stored, self._node)
        if alive is not None:
            self._proofs.setdefault(alive, stored)
        signs = self._signals(stored)
        if self._is_old(stored):
            self._keep_held(signs)
            return
        if not signs:
            self._mark(marks_of(stored, self._knowledge, node=self._node))
        self._put(stored, signs, before)
        if skew and self._open is not None:
            self._open.skew = skew

    def _signals(self, stored: StoredFact) -> list[Signal]:
        """Return the signals of a fact for the node as it is now."""
        signs = signals_of(stored, self._knowledge, node=self._node)
        if stored.fact.about == "Node":
            signs += self._unseen(stored)
        if stored.entry in self.cordons:
            signs += cordons_by(signs, ended=not self.cordons[stored.entry])
        signs += self._cables.signals(stored, self._state.labels)
        for place, sign in enumerate(signs):
            if sign.of_spot and self._knowledge.is_spot(self._state.labels):
                signs[place] = sign._replace(decision=sign.of_spot)
        return signs

    def _unseen(self, stored: StoredFact) -> list[Signal]:
        """Return the loss or return that only a listed Event shows.

        A gap hid the versions of the Node in which it was not ready.
        """
        event, at = stored.fact.detail, stored.at
        if not isinstance(event, EventOccurred):
            return []
        is_back = (stored.fact.actor, event.reason) == (KUBELET, "NodeReady")
        unseen = self._seen_at is None and self._state.uid is None
        if not (is_back or is_loss(stored, unseen=unseen)):
            return []
        found = (s for chain in self.chains for s in chain.signals)
        known = [s for s in found if s.topic is Topic.READY]
        if is_back:
            if not (known and is_unseen(known[-1])):
                return []
            ready = Signal(Role.RECOVERY, Subject(Topic.READY), stored)
            return [ready._replace(over=True)]
        if any(abs(s.at - at) <= LIMITS.together for s in known):
            return []
        return [Signal(Role.EFFECT, Subject(Topic.READY), stored)]

    def _mark(self, marks: Iterable[Signal]) -> None:
        """Keep the marks, to join them to the acts of their authors."""
        kept = self._marks if self._open is None else self._open.marks
        kept.extend(marks)

    def _put(
        self, stored: StoredFact, signs: list[Signal], before: NodeState
    ) -> None:
        if self._open is not None and self._open.is_over(stored.observed_at):
            self._open = None
        if self._open is None and is_listed(stored):
            signs = self._keep_held(signs)
        for sign in signs:
            self._place(sign, before)
        chain = self._open
        if chain is None:
            return
        if self._state.uid is None:
            chain.hear(stored, signs)
        elif stored.fact.is_of_node or (signs and self._state.in_service):
            chain.note(stored, self._state)

    def _dated(self, stored: StoredFact) -> StoredFact:
        """Return a change of the Node, without its time if that is impossible.

        A change cannot be older than the last observation of the previous
        version: the clock of its author was wrong, or the time is not of
        this change. A boot that a list shows was when its kubelet said so.
        """
        fact = stored.fact
        last = self._shown.get(stored.entry.position, self._last)
        if isinstance(fact.detail, BootChanged):
            seen = stored.observed_at
            said = self.reported.get(fact.detail.new or "", seen)
            if last and last <= said < seen - LIMITS.moment:
                fact = replace(fact, occurred_at=said)
            return replace(stored, fact=fact)
        if (
            last is None
            or not isinstance(fact.detail, ConditionChanged)
            or fact.detail.old is None
            or fact.occurred_at is None
            or fact.occurred_at >= last - LIMITS.moment
        ):
            return stored
        return replace(stored, fact=replace(fact, occurred_at=None))

    def _advance(self, stored: StoredFact) -> None:
        fact = stored.fact
        thing = fact.object
        if (
            fact.kind is FactKind.VANISHED
            and thing is not None
            and thing.uid != self._state.uid
        ):
            return  # another Node has the name by now
        if fact.kind is FactKind.APPEARED and self._state.uid is None:
            self._see(stored)
        place = stored.entry.position
        self._shown.setdefault(place, self._last or stored.observed_at)
        self._last = stored.observed_at
        self._state = advance(self._state, fact)
        if self._state.boot_id is not None:
            self._boots.setdefault(self._state.boot_id, stored.observed_at)
            self._machines[self._state.boot_id] = self._state.fields

    def _see(self, stored: StoredFact) -> None:
        self._seen_at = stored.observed_at
        self._loose.clear()
        detail = stored.fact.detail
        if isinstance(detail, Vanished):
            self._state = shown(detail.state)
        elif isinstance(detail, Appeared) and not detail.created:
            for sign in standing(stored, self._knowledge):
                past = self._followed(sign)
                if past is None:
                    self._held[sign.subject] = sign
                else:
                    past.carry([sign])

    def _followed(self, sign: Signal) -> Episode | None:
        """Return the first episode after a signal that a list showed later."""
        after = (c for c in self.chains if latest(sign) < c.began.at)
        return next(after, None)

    def _keep_held(self, signs: Iterable[Signal]) -> list[Signal]:
        """Keep earlier signals for the next episode; return the others."""
        others = []
        for sign in signs:
            if sign.role in LASTING and not sign.over:
                self._held[sign.subject] = sign
            else:
                others.append(sign)
        return others

    def _is_old(self, stored: StoredFact) -> bool:
        """Return whether a fact is from before the node was known.

        The first list of Events, of an hour, may precede that of Nodes. What
        was recorded as of its own time, as the Events of a dump, is evidence.
        """
        if stored.fact.kind is not FactKind.EVENT:
            return False
        if self._seen_at is None:
            return self._state.uid is None and not self._is_early(stored)
        if self._skew > NO_SKEW:
            # At least: all that is known of an Event is that it was listed.
            return stored.observed_at <= self._seen_at + LIMITS.first_lists
        # What was read afterwards is dated by the end of a second.
        return stored.at <= self._seen_at - LIMITS.asynchronous

    def _is_early(self, stored: StoredFact) -> bool:
        """Return whether a fact was recorded as of its own time.

        And not while the Node was being created. The node controller reports
        on Nodes that exist: what it wrote before is about an earlier Node.
        """
        if stored.observed_at > stored.at:
            return False
        created = self.created
        if created is None or stored.at > created + LIMITS.first_lists:
            return True
        return stored.fact.actor == NODE_CONTROLLER and stored.at < created

    def _place(self, sign: Signal, before: NodeState) -> None:
        if is_first_sight(sign, before) or self._was_there(sign):
            return
        if sign.over:
            self._held.pop(sign.subject, None)
        if (past := self._past(sign)) is not None:
            past.take(sign)
            return
        self._reopen(sign)
        chain, still_held = self._open, list[Signal]()
        if chain is not None and begins_anew(chain, sign):
            still_held = chain.still_held(sign.seen)
            chain = self._open = None
        if chain is None and (self._opens(sign) or is_removed(sign, before)):
            chain = self._begin(sign, before, still_held)
        if chain is None and sign.topic is Topic.WORD:
            return  # kubelets talk
        if chain is None:
            self._loose.append(sign)
        else:
            chain.take(sign)

    def _begin(
        self, sign: Signal, before: NodeState, held: Iterable[Signal]
    ) -> Episode:
        """Open an episode with signals that still hold or came just before."""
        chain = self._open = Episode(self._node, before, self._boots)
        chain.proofs, chain.shown = self._proofs, self._shown
        chain.machines = self._machines
        for ended in self.chains[-1:]:
            chain.marks += ended.open_orders(sign.at)
            chain.before = ended.signals if chain.marks else ()
        self.chains.append(chain)
        since = sign.at - LIMITS.moment
        # A list may show an act that lasts, long after it began.
        recent = (
            loose
            for loose in self._loose
            if (loose.at if loose.kind in REPORTED else loose.seen) >= since
        )
        chain.carry([*self._held_at_first(sign.at), *held])
        self._held.clear()
        for earlier in recent:
            chain.take(earlier)
        self._loose.clear()
        last = {m.subject: m for m in self._marks if is_trouble(m)}
        kept = [*filter(is_bad, last.values())]
        kept += self._planned(sign.at)
        chain.marks += [m for m in self._marks if m.at >= since or m in kept]
        self._marks.clear()
        return chain

    def _planned(self, at: datetime) -> list[Signal]:
        """Return what plans to empty or reboot the node some time later."""
        last = {m.subject: m for m in self._marks}
        return [
            mark
            for mark in last.values()
            if at - mark.at <= LIMITS.recent
            and is_order(mark, later=True)
            and not is_order(mark)
        ]

    def _held_at_first(self, at: datetime) -> list[Signal]:
        """Return the signals held at first, except for old Events."""
        return [
            sign
            for sign in self._held.values()
            if sign.topic is not Topic.EVENT or at - sign.at <= LIMITS.patience
        ]

    def _past(self, sign: Signal) -> Episode | None:
        """Return the closed episode that a late signal belongs to, if any.

        Reports may come late, and after a gap in any order. The proof of a
        panic is found after the boot that it caused.
        """
        if sign.kind not in REPORTED:
            return None
        at = sign.at
        if sign.fault is Fault.KERNEL_PANIC:
            # It is reported soon after a boot, by the clock of a node; and a
            # boot that a gap hid was no later than it was seen.
            seen = sign.seen
            found = seen if seen - at <= LIMITS.moment else at + LIMITS.linger
            boots = [
                (boot.seen, chain)
                for chain in self.chains
                for boot in chain.of(Topic.BOOT)
                if boot.seen <= found or self._shown[boot.position] <= at
            ]
            if boots and at - boots[-1][0] <= LIMITS.autopsy:
                return self._lost_since(boots[-1][1])
            return None
        for chain in self.chains:
            if chain is self._open or chain.back is None:
                continue
            # A boot may be seen long after the kubelet spoke of it.
            early = sign.topic in STARTS and chain.has(Topic.BOOT)
            # What took a machine away came before its loss was seen.
            before = (
                sign.topic is Topic.CLAIM and chain.began.at - LIMITS.moment
            )
            if (early or (before or chain.began.at) <= at) and (
                at <= chain.back.observed_at
            ):
                return chain
        return None

    def _reopen(self, sign: Signal) -> None:
        """Continue a closed episode, if its boot is shown only now.

        Its kubelet reported the boot while its Node was not recorded.
        """
        if self._open is not None or sign.topic is not Topic.BOOT:
            return
        boot = sign.boot
        for chain in self.chains[-1:]:
            reports = chain.of(Topic.REBOOTED)
            if any(boot_named(said.stored) == boot for said in reports):
                self._open = chain

    def _lost_since(self, chain: Episode) -> Episode:
        """Return the episode in which a node was lost again, if it was."""
        now = self._open
        if now is None or now is chain or self._state.ready == "True":
            return chain
        return now

    def _was_there(self, sign: Signal) -> bool:
        """Return whether a boot was shown before.

        No two boots have the same ID: its author was behind, such as an API
        server whose store was restored.
        """
        if sign.boot is None:
            return False
        return self._boots[sign.boot] != sign.seen

    def _opens(self, sign: Signal) -> bool:
        """Whether it opens an episode; of boots, one that is not known.

        Of two machines, each says so whenever the other has reported.
        """
        known = sign.topic is Topic.REBOOTED and (
            is_explained(sign, self._boots)
            or (
                boot_named(sign.stored) in self._boots
                and are_two(*[{}, {}, *self._machines.values()][-2:])
            )
        )
        return not (known or never_opens(sign))


LEAVING: Final = frozenset(
    {
        Topic.CORDON,
        Topic.READY,
        Topic.SHUTDOWN,
        Topic.IDENTITY,
        Topic.KUBELET,
    }
)
"""Subjects that begin an episode once a node was back in service, although
earlier signals may still hold."""


def begins_anew(chain: Episode, sign: Signal) -> bool:
    """Return whether a signal begins another episode."""
    boots = chain.of(Topic.BOOT)
    if _is_before(sign, chain, boots):
        return False
    leaves = sign.topic in LEAVING and (
        not sign.over or sign.topic is Topic.IDENTITY
    )
    if leaves and chain.returned(sign.seen):
        return True
    if sign.over:
        return False
    if sign.topic is Topic.READY and chain.is_up_again(sign.seen):
        return True  # it is lost again, in service or not
    if boots and sign.topic is Topic.BOOT:
        return chain.is_quiet or chain.state.ready == "True"
    return chain.is_quiet and chain.has_effect and _is_other(sign, chain)


def _is_before(sign: Signal, chain: Episode, boots: Sequence[Signal]) -> bool:
    """Return whether a signal is about what an episode has already.

    Its time is before the boot, or a list after a gap shows everything at
    once.
    """
    dated = bool(boots) and sign.at < boots[-1].at
    at_once = (
        bool(chain.signals) and chain.signals[-1].position == sign.position
    )
    return dated or at_once


def _is_other(sign: Signal, chain: Episode) -> bool:
    """Return whether a signal is about something other than what ended."""
    if sign.role in {Role.FAULT, Role.DECISION}:
        return True
    since = sign.seen - chain.signals[-1].seen
    if sign.topic is Topic.CORDON and since <= LIMITS.asynchronous:
        return False
    return sign.topic in {Topic.CORDON, Topic.SHUTDOWN} or (
        sign.topic in {Topic.READY, Topic.IDENTITY}
        and not chain.has(Topic.BOOT)
        and not chain.has(Topic.KUBELET)
    )


def may_begin(
    node: str, facts: Iterable[StoredFact], knowledge: Knowledge
) -> bool:
    """Return whether facts can make an episode, in any state of the node."""
    return any(
        is_loss(stored)
        or any(
            sign.topic is Topic.IDENTITY or not never_opens(sign)
            for sign in signals_of(stored, knowledge, node=node)
        )
        for stored in facts
    )


def never_opens(sign: Signal) -> bool:
    """Return whether a signal never opens an episode."""
    return (
        sign.over
        or sign.role is Role.RECOVERY
        or (sign.topic in ATTACHED and sign.topic is not Topic.REBOOTED)
        or sign.topic is Topic.REQUEST
        or (
            sign.role is Role.ACT
            and sign.stored.fact.about not in {"Node", ""}
            and sign.topic is not Topic.EVENT
        )
    )


def is_removed(sign: Signal, before: NodeState) -> bool:
    """Whether the Node itself is removed, healthy or not."""
    thing = sign.stored.fact.object
    return (
        sign.topic is Topic.IDENTITY
        and sign.over
        and thing is not None
        and thing.uid == before.uid
    )
