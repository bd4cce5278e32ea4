"""Signals of a Node itself: facts with the part that they may play.

What literals of controllers mean comes from the rules; what Kubernetes itself
does to a Node is code here. A signal is evidence, not yet a cause.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from recorder.explain.knowledge import Knowledge
from recorder.explain.knowledge.rules import ConditionRule, TextRule
from recorder.explain.signals.actor import RuledActor, actor_of
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.facts import (
    AnnotationChanged,
    BootChanged,
    ConditionChanged,
    FieldChanged,
    LabelChanged,
    ResourceChanged,
    Tainted,
    Untainted,
)
from recorder.model.outcomes import Decision, Fault, Role
from recorder.model.state import Condition

__all__ = ["node_signals"]

_OF_NODE = {
    FactKind.APPEARED: (Role.EFFECT, Topic.IDENTITY, False),
    FactKind.VANISHED: (Role.EFFECT, Topic.IDENTITY, True),
    FactKind.DELETION_REQUESTED: (Role.ACT, Topic.DELETION, False),
    FactKind.BOOT_CHANGED: (Role.EFFECT, Topic.BOOT, False),
    FactKind.CORDONED: (Role.ACT, Topic.CORDON, False),
    FactKind.UNCORDONED: (Role.RECOVERY, Topic.CORDON, True),
}
"""Role, subject, and whether it ends what began, of plain changes."""

VERSIONS = frozenset({"kernel_version", "os_image"})

LATER = ("planned", "scheduled", "required", "needed", "recommended", "last")
"""Parts of such names by which it is told what may be done some day."""

WISHES = ("reboot", "powercycle", "powerreset", "maintenance")
"""Parts of what conditions are called by which somebody asks for a reboot."""


def node_signals(stored: StoredFact, knowledge: Knowledge) -> Iterator[Signal]:
    """Yield the parts of what happens to a Node."""
    fact = stored.fact
    actor = actor_of(fact.actor, knowledge)
    if fact.kind in _OF_NODE and not _is_first_boot(fact):
        role, topic, over = _OF_NODE[fact.kind]
        decision = None
        if actor is not None and actor.known and topic is Topic.CORDON:
            # Who does all for one reason had that one.
            decision = knowledge.purpose(actor.name or "")
        yield Signal(
            role, Subject(topic), stored, None, None if over else decision,
            actor, over=over, vague=decision is not None,
        )  # fmt: skip
        return
    match fact.detail:
        case FieldChanged(field=field):
            yield from _field(stored, field)
        case ConditionChanged() as turned:
            yield from _condition(stored, turned, actor, knowledge)
        case ResourceChanged() as amount:
            yield from _gpus(stored, amount)
        case (Tainted() | Untainted()) as taint:
            yield from _taint(stored, taint, actor, knowledge)
        case (AnnotationChanged() | LabelChanged()) as text:
            yield from _text(stored, text, actor, knowledge)
        case _:
            pass


def _is_first_boot(fact: Fact) -> bool:
    """Whether a Node that had no boot id was given one: nothing rebooted.

    Who makes Nodes before their machines, as Karpenter does, knows none.
    """
    return isinstance(fact.detail, BootChanged) and not fact.detail.old


def _field(stored: StoredFact, field: str) -> Iterator[Signal]:
    if field in VERSIONS:
        yield Signal(Role.ACT, Subject(Topic.VERSION), stored)
    elif field == "kubelet_version":
        # No kubelet becomes another without being started anew.
        yield Signal(Role.EFFECT, Subject(Topic.KUBELET), stored)


def _condition(
    stored: StoredFact,
    turned: ConditionChanged,
    actor: RuledActor | None,
    knowledge: Knowledge,
) -> Iterator[Signal]:
    name, old, new = turned.type, turned.old, turned.new
    own = _OF_KUBERNETES.get(name)
    if own is not None:
        yield from own(stored, old, new)
        return
    rule = knowledge.condition(name)
    if rule is None:
        yield from _wish(stored, turned, actor)
        return
    subject = Subject(Topic.CONDITION, name)
    was = old is not None and old.status == rule.when
    if new is None or new.status != rule.when:
        if was:
            role = Role.RECOVERY
            yield Signal(role, subject, stored, actor=actor, over=True)
        return
    if rule.decision is not None and not was:
        # Who a rule names is known; whoever wrote it is a guess.
        actor = RuledActor.named(rule.actor) or actor
        decision = _decision(rule, new)
        yield Signal(Role.DECISION, subject, stored, None, decision, actor)
        return
    fault = _fault(rule, new)
    if fault is not None:
        yield Signal(Role.FAULT, subject, stored, fault, None, actor)
    elif rule.role is not None and not was:
        yield Signal(rule.role, subject, stored, actor=actor)


def _wish(
    stored: StoredFact, turned: ConditionChanged, actor: RuledActor | None
) -> Iterator[Signal]:
    """A condition that no rule knows, set by hand: what it is called.

    Programs tell by such names what would be good to do; a person has it
    done.
    """
    name, old, new = turned.type, turned.old, turned.new
    if not any(word in name.lower() for word in WISHES):
        return
    was = old is not None and old.status == "True"
    subject = Subject(Topic.CONDITION, name)
    if was and (new is None or new.status != "True"):
        yield Signal(Role.RECOVERY, subject, stored, actor=actor, over=True)
    elif not was and actor is not None and not actor.is_program:
        wish = Decision.ADMIN_REQUEST
        vague = any(word in name.lower() for word in LATER)
        yield Signal(
            Role.DECISION, subject, stored, None, wish, actor, vague=vague
        )  # fmt: skip


def _decision(rule: ConditionRule, new: Condition) -> Decision | None:
    message, reason = new.message or "", new.reason or ""
    for text, decision in rule.announced.items():
        if text in message:
            return decision
    return rule.decisions.get(reason, rule.decision)


def _fault(rule: ConditionRule, new: Condition) -> Fault | None:
    message, reason = new.message or "", new.reason or ""
    told = [_told(rule, part) for part in message.split(";") if part.strip()]
    if any(known for known, _ in told):
        # One message may tell of several: what broke before what only shows.
        broken = [fault for _, fault in told if fault is not None]
        return rule.fault if rule.fault in broken else next(iter(broken), None)
    for part, fault in rule.reasons.items():
        if part == reason:
            return fault
    return rule.fault


def _told(rule: ConditionRule, part: str) -> tuple[bool, Fault | None]:
    """Return the fault in a part of a message, and whether a rule names it."""
    for text, fault in rule.messages.items():
        if text in part:
            return True, fault
    return False, rule.fault


def _ready(
    stored: StoredFact, old: Condition | None, new: Condition | None
) -> Iterator[Signal]:
    before = old.status if old is not None else None
    now = new.status if new is not None else None
    message = (new.message if new is not None else None) or ""
    if "node is shutting down" in message:
        yield Signal(Role.ACT, Subject(Topic.SHUTDOWN), stored)
    if now == before:
        return
    if now == "True":
        yield Signal(Role.RECOVERY, Subject(Topic.READY), stored, over=True)
    else:
        yield Signal(Role.EFFECT, Subject(Topic.READY), stored)


def _shutdown(
    stored: StoredFact, old: Condition | None, new: Condition | None
) -> Iterator[Signal]:
    was, now = (c is not None and c.status == "True" for c in (old, new))
    if was != now:
        role = Role.ACT if now else Role.RECOVERY
        yield Signal(role, Subject(Topic.SHUTDOWN), stored, over=was)


_OF_KUBERNETES = {
    "Ready": _ready,
    # From 1.37 on.
    "GracefulNodeShutdownInProgress": _shutdown,
}
"""Conditions of Kubernetes itself."""


def _gpus(stored: StoredFact, amount: ResourceChanged) -> Iterator[Signal]:
    if amount.list != "allocatable" or not amount.resource.endswith("gpu"):
        return
    old, new = _number(amount.old), _number(amount.new)
    whole = _number(amount.capacity)
    if new < old and 0 < new < whole:
        # None at all is a plugin that has not registered yet.
        fault = Fault.GPU
        yield Signal(Role.FAULT, Subject(Topic.GPUS), stored, fault)
    elif new > old and new >= whole:
        yield Signal(Role.RECOVERY, Subject(Topic.GPUS), stored, over=True)


def _number(amount: str | None) -> int:
    return int(amount) if amount and amount.isdecimal() else 0


def _taint(
    stored: StoredFact,
    taint: Tainted | Untainted,
    actor: RuledActor | None,
    knowledge: Knowledge,
) -> Iterator[Signal]:
    subject = Subject(Topic.TAINT, taint.key)
    if isinstance(taint, Untainted):
        yield Signal(Role.RECOVERY, subject, stored, actor=actor, over=True)
        return
    rule = knowledge.taint(taint.key, taint.value or "")
    if rule is not None:
        yield Signal(
            rule.role, subject, stored, None, rule.decision,
            RuledActor.named(rule.actor) or actor, rule.of_spot,
            vague=rule.vague,
        )  # fmt: skip
    else:
        yield Signal(Role.ACT, subject, stored, actor=actor)


def _text(
    stored: StoredFact,
    text: AnnotationChanged | LabelChanged,
    actor: RuledActor | None,
    knowledge: Knowledge,
) -> Iterator[Signal]:
    label = isinstance(text, LabelChanged)
    ruled = knowledge.label if label else knowledge.annotation
    topic = Topic.LABEL if label else Topic.ANNOTATION
    subject = Subject(topic, text.key)
    old, new = text.old, text.new
    rule = ruled(text.key, new or "")
    if new is None or rule is None:
        if old is not None and ruled(text.key, old):
            yield Signal(
                Role.RECOVERY, subject, stored, actor=actor, over=True
            )
        return
    yield Signal(
        rule.role, subject, stored, rule.fault, rule.decision,
        RuledActor.named(rule.actor) or actor, due=_due(rule, new),
    )  # fmt: skip


def _due(rule: TextRule, value: str) -> datetime | None:
    if not rule.is_time or not value.isdecimal():
        return None
    try:
        return datetime.fromtimestamp(int(value), UTC)
    except (OverflowError, ValueError, OSError):
        return None
