"""Signals around a Node: Events, Pods, other objects, audit, and claims."""

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec.structs import replace

from recorder.explain.knowledge import Knowledge, matches
from recorder.explain.knowledge.claiming import member, time_of
from recorder.explain.knowledge.rules import (
    Claimant,
    ClaimType,
    ObjectRule,
    TextRule,
)
from recorder.explain.signals.actor import UNKNOWN, Actor, actor_of
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.facts import DEBUGGER, HOST_COMMAND, MANAGED_BY, REFUSED
from recorder.facts.classify.times import moment
from recorder.model.fact import DETAILS, Fact, FactKind, StoredFact
from recorder.model.facts import (
    AnnotationChanged,
    Appeared,
    Claimed,
    ConditionChanged,
    ContainerEnded,
    Cordoned,
    Detail,
    Ended,
    EventOccurred,
    FieldChanged,
    LabelChanged,
    MetadataChanged,
    Requested,
    Tainted,
    Vanished,
)
from recorder.model.outcomes import Decision, Fault, Role
from recorder.model.reference import ObjectIdentity
from recorder.model.state import Condition, ObjectState

CONFLICT = 409
"""The status of a request to create what exists."""

UNAUTHORIZED = 401
"""The status of a request whose credentials are not valid."""

CHANGING = frozenset({"create", "update", "patch", "delete"})
"""Verbs of requests that change something."""

_KINDS = {detail: kind for kind, detail in DETAILS.items()}

GOING = frozenset({FactKind.DELETION_REQUESTED, FactKind.VANISHED})

_KNOWN = {
    ("kubelet", "NodeAllocatableEnforced"): (Role.EFFECT, Topic.SET_UP),
    ("kubelet", "Rebooted"): (Role.EFFECT, Topic.REBOOTED),
    ("kubelet", "Shutdown"): (Role.ACT, Topic.SHUTDOWN),
    ("kubelet", "Starting"): (Role.EFFECT, Topic.KUBELET),
    # Every kubelet sends these as it starts, and continues its count when it
    # is heard from again: a new kubelet begins a new count.
    ("kubelet", "NodeHasSufficientMemory"): (Role.RECOVERY, Topic.WORD),
    ("kubelet", "NodeHasNoDiskPressure"): (Role.RECOVERY, Topic.WORD),
    ("kubelet", "NodeHasSufficientPID"): (Role.RECOVERY, Topic.WORD),
    ("node-controller", "RemovingNode"): (Role.EFFECT, Topic.REMOVING),
}
"""Events of Kubernetes about a Node, by their reporter and reason."""

_DISRUPTED = {
    "EvictionByEvictionAPI": (Role.ACT, Topic.EVICTION),
    "DeletionByTaintManager": (Role.EFFECT, Topic.TAINT_EVICTION),
    "TerminationByKubelet": (Role.ACT, Topic.SHUTDOWN),
}
"""What the disruption of a Pod says of its node, by its reason."""


def event_signals(
    stored: StoredFact, event: EventOccurred, about: str, knowledge: Knowledge
) -> Iterator[Signal]:
    """Yield the signals of a Kubernetes Event."""
    reporter, reason = stored.fact.actor or "", event.reason or ""
    message = event.message or ""
    known = _KNOWN.get((reporter, reason)) if about == "Node" else None
    if known is not None:
        role, topic = known
        over = topic is Topic.SHUTDOWN and "cancel" in message
        role = Role.RECOVERY if over else role
        yield Signal(role, Subject(topic), stored, over=over)
        return
    rule = knowledge.event(reporter, reason, about=about, message=message)
    if rule is not None:
        yield Signal.by(rule, Subject(Topic.EVENT, reason), stored)


def pod_signals(stored: StoredFact, knowledge: Knowledge) -> Iterator[Signal]:
    """Yield the signals of a fact about a Pod."""
    disrupted = None
    match stored.fact.detail:
        case ContainerEnded(reason="OOMKilled"):
            fault = Fault.CONTAINER_OOM
            yield Signal(Role.FAULT, Subject(Topic.CONTAINER), stored, fault)
        case Ended(reason=reason, message=message) if reason in REFUSED:
            refusal = knowledge.refusal(message or "")
            if refusal is not None:
                subject = Subject(Topic.CONTAINER, reason or "")
                yield Signal(Role.FAULT, subject, stored, refusal)
        case Appeared(state=state):
            disrupted = state.conditions.get("DisruptionTarget")
            stored = dated(stored, disrupted.since if disrupted else None)
        case ConditionChanged(type="DisruptionTarget", new=new):
            disrupted = new
    yield from _commanded(stored, knowledge)
    if disrupted is None or disrupted.status != "True":
        return
    known = _DISRUPTED.get(disrupted.reason or "")
    # A kubelet also ends Pods that it has no room for.
    is_shutdown = "shutdown" in (disrupted.message or "")
    if known is not None and (known[1] is not Topic.SHUTDOWN or is_shutdown):
        yield Signal(known[0], Subject(known[1]), stored)


def _commanded(stored: StoredFact, knowledge: Knowledge) -> Iterator[Signal]:
    """Yield what a Pod does to its node; of a shell that is not recorded."""
    match stored.fact.detail:
        case Appeared(state=state, created=True):
            over = False
        case FieldChanged(field="host_command", old=old, new=new):
            # It was bound after it was created, or is gone before it ran.
            state = ObjectState(fields={HOST_COMMAND: new or old or ""})
            over = new is None
        case _:
            return
    decision = knowledge.commanded(str(state.fields.get(HOST_COMMAND, "")))
    is_shell = state.labels.get(MANAGED_BY) == DEBUGGER
    if stored.fact.object is not None and (decision or is_shell):
        yield Signal(
            Role.RECOVERY if over else Role.DECISION,
            _named(stored.fact.object),
            stored,
            decision=None if over else decision or Decision.ADMIN_REQUEST,
            actor=actor_of(stored.fact.actor, knowledge),
            vague=decision is None,
            over=over,
        )


def other_signals(
    stored: StoredFact, knowledge: Knowledge, node: str
) -> Iterator[Signal]:
    """Yield the signals of a fact about any other object.

    Of one that a list shows, first those of what it held already.
    """
    thing = stored.fact.object
    if thing is None:
        return
    held = unfolded(stored, knowledge) if is_listed(stored) else ()
    for one in (*held, stored):
        match one.fact.detail:
            case AnnotationChanged() as noted:
                yield from text_signals(one, noted, knowledge)
                yield from _lock(one, noted, thing, knowledge, node)
            case ConditionChanged() as turned:
                yield from _turned(one, turned, thing, knowledge)
            case _:
                yield from _made(one, thing, knowledge)


def text_signals(
    stored: StoredFact, text: MetadataChanged, knowledge: Knowledge
) -> Iterator[Signal]:
    """Yield the signals of a label or an annotation.

    It means the same on a Node and on any object that is its own, such as its
    Machine.
    """
    actor = actor_of(stored.fact.actor, knowledge)
    label = isinstance(text, LabelChanged)
    table = knowledge.labels if label else knowledge.annotations
    subject = Subject(Topic.METADATA, text.key)
    old, new = (
        None if value is None else table.first(text.key, values=value)
        for value in (text.old, text.new)
    )
    if new is not None:
        due = _due(new, text.new or "")
        yield Signal.by(new, subject, stored, actor)._replace(due=due)
    elif old is not None:
        yield Signal(Role.RECOVERY, subject, stored, actor=actor, over=True)


def _due(rule: TextRule, value: str) -> datetime | None:
    if not rule.is_time or not value.isdecimal():
        return None
    try:
        return datetime.fromtimestamp(int(value), UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _lock(
    stored: StoredFact,
    noted: AnnotationChanged,
    thing: ObjectIdentity,
    knowledge: Knowledge,
    node: str,
) -> Iterator[Signal]:
    rule = knowledge.locks.first(noted.key, kinds=thing.kind)
    if rule is None:
        return
    held = node in rule.holders(noted.new)
    if held == (node in rule.holders(noted.old)):
        return  # another node joined or left
    # A lock that is passed on is a decision for the next node alone.
    yield Signal(
        Role.DECISION if held else Role.RECOVERY,
        Subject(Topic.LOCK, noted.key), stored, None,
        rule.decision if held else None, Actor.named(rule.actor),
        over=not held,
    )  # fmt: skip


def _turned(
    stored: StoredFact,
    detail: ConditionChanged,
    thing: ObjectIdentity,
    knowledge: Knowledge,
) -> Iterator[Signal]:
    turned = f"{thing.kind}/{thing.name} {detail.type}"
    subject = Subject(Topic.OBJECT_CONDITION, turned)
    rules = knowledge.objects.of(
        thing.kind, groups=thing.group, condition=detail.type
    )
    for rule in rules:
        if _fits(rule, detail.new):
            yield Signal.by(rule, subject, stored)
            return
        if _fits(rule, detail.old):
            yield Signal(Role.RECOVERY, subject, stored, over=True)
            return
    made = _order(thing, knowledge)
    if made is not None:
        actor = Actor.named(made.actor)
        yield Signal(Role.ACT, _named(thing), stored, actor=actor)


def _fits(rule: ObjectRule, condition: Condition | None) -> bool:
    return (
        condition is not None
        and condition.status == rule.when
        and matches(rule.reasons, condition.reason or "")
    )


def _order(thing: ObjectIdentity, knowledge: Knowledge) -> ObjectRule | None:
    """Return the rule by which an object is an order, if there is one."""
    return knowledge.objects.first(
        thing.kind, groups=thing.group, condition="", deleted=False
    )


def _named(thing: ObjectIdentity) -> Subject:
    return Subject(Topic.OBJECT, f"{thing.kind}/{thing.name}")


def _made(
    stored: StoredFact, thing: ObjectIdentity, knowledge: Knowledge
) -> Iterator[Signal]:
    subject, order = _named(thing), _order(thing, knowledge)
    gone = knowledge.objects.first(
        thing.kind, groups=thing.group, deleted=True
    )
    if gone is not None and stored.fact.kind in GOING:
        ended = Subject(Topic.OBJECT_END, subject.name)
        yield Signal.by(gone, ended, stored)
    if order is None:
        return
    match stored.fact.detail:
        case Appeared(state=state) if "completion_time" not in state.fields:
            # A completed one remains until it is cleaned up.
            yield Signal.by(order, subject, dated(stored, state.created_at))
        case Vanished():
            yield Signal(Role.RECOVERY, subject, stored, over=True)
        case FieldChanged():
            actor = Actor.named(order.actor)
            yield Signal(Role.ACT, subject, stored, actor=actor)


def request_signals(
    stored: StoredFact, detail: Requested, knowledge: Knowledge
) -> Iterator[Signal]:
    """Yield the signals of an audit record, which name the actor of others.

    A request of a kubelet shows that it runs, and changes nothing else: that
    its Node exists already shows that it started. The user of a client that
    is refused is not known.
    """
    user, agent = stored.fact.actor or "", detail.user_agent or ""
    if user.startswith("system:node:"):
        asked = detail.verb, detail.resource, detail.code
        if asked == ("create", "nodes", CONFLICT):
            yield Signal(Role.EFFECT, Subject(Topic.KUBELET), stored)
        return
    if detail.code == UNAUTHORIZED and agent.startswith("kubelet/"):
        fault = Fault.KUBELET
        yield Signal(Role.FAULT, Subject(Topic.CLIENT), stored, fault)
    if detail.verb not in CHANGING or detail.is_refused:
        return
    actor = actor_of(user, knowledge, audited=True, client=agent)
    if actor is not None and user == detail.acted_as:
        account = (detail.user or "").rpartition(":")[2]
        actor = replace(actor, tool=account)
    yield Signal(Role.ACT, Subject(Topic.REQUEST), stored, actor=actor)


def is_listed(stored: StoredFact) -> bool:
    """Return whether a list showed an object other than a Node.

    It existed before, for an unknown time.
    """
    fact = stored.fact
    return (
        isinstance(fact.detail, Appeared)
        and fact.about not in {"Node", ""}
        and not fact.detail.created
    )


def dated(seen: StoredFact, since: str | None) -> StoredFact:
    """Return a fact at the time that an object has, if a list shows it."""
    at = moment(since) if is_listed(seen) else None
    at = at or seen.fact.occurred_at
    return replace(seen, fact=replace(seen.fact, occurred_at=at))


def unfolded(seen: StoredFact, knowledge: Knowledge) -> Iterator[StoredFact]:
    """Yield what an object has that a list shows, as if each thing came.

    A condition has its time; what one field manager owns was set at the
    latest when its entry changed; the rest has none. Labels and annotations
    without a rule are left out: most of most objects.
    """
    shown = seen.fact.detail
    assert isinstance(shown, Appeared), "asked of nothing else"
    state = shown.state
    owned = {name: one for one in state.held for name in one.names}
    for number, (detail, place) in enumerate(_held(state, knowledge), 1):
        writer = owned.get(place)
        since = writer.time if writer is not None else None
        if isinstance(detail, ConditionChanged) and detail.new is not None:
            since = detail.new.since
        fact = Fact(
            kind=_KINDS[type(detail)],
            node=seen.fact.node,
            object=seen.fact.object,
            occurred_at=moment(since),
            actor=writer.manager if writer is not None else None,
            detail=detail,
        )
        yield replace(seen, index=seen.index + number, fact=fact)


def _held(
    state: ObjectState, knowledge: Knowledge
) -> Iterator[tuple[Detail, str]]:
    """Yield each thing, and where it is by the record of who owns it."""
    yield from (
        (ConditionChanged(name, None, condition), "")
        for name, condition in sorted(state.conditions.items())
        if name != "Ready"
    )
    for taint in state.taints:
        yield Tainted(taint.key, taint.value, taint.effect), "taints"
    yield from (
        (LabelChanged(key, None, value), "")
        for key, value in sorted(state.labels.items())
        if knowledge.labels.first(key)
    )
    yield from (
        (AnnotationChanged(key, None, value), f"annotations/{key}")
        for key, value in sorted(state.annotations.items())
        if knowledge.annotations.first(key) or knowledge.locks.first(key)
    )
    if state.fields.get("unschedulable"):
        yield Cordoned(), "unschedulable"


def claim_signals(
    stored: StoredFact, claim: Claimed, knowledge: Knowledge
) -> Iterator[Signal]:
    """Yield the signal of a claim, if its type says that it is evidence."""
    found = knowledge.claimed(claim)
    if found is None:
        return
    kind, rule = found
    yield Signal(
        rule.role,
        _about_claim(kind, claim),
        _timed(stored, kind, claim),
        rule.fault,
        rule.decision,
        _claimant(rule.actor, claim),
        vague=rule.vague,
        over=rule.role is Role.RECOVERY and kind.holds,
        excludes=rule.excludes,
    )


def certificate_signals(stored: StoredFact) -> Iterator[Signal]:
    """Yield how far a kubelet came that asked for a certificate."""
    stage = None
    match stored.fact.detail:
        case Appeared(created=True):
            stage = "requested"
        case ConditionChanged(type=name, new=new) if new is not None:
            stage = name.lower()  # approved, denied or failed
    if stage is not None:
        subject = Subject(Topic.STAGE, f"certificate-{stage}")
        yield Signal(Role.RECOVERY, subject, stored)


def _about_claim(kind: ClaimType, claim: Claimed) -> Subject:
    if kind.stage:
        return Subject(
            Topic.STAGE, "".join(member(claim.data, kind.stage)[:1])
        )
    things = [
        value for path in kind.each for value in member(claim.data, path)
    ]
    name = " ".join([kind.type, claim.subject, *things])
    return Subject(Topic.CLAIMED_STATE if kind.holds else Topic.CLAIM, name)


def _timed(stored: StoredFact, kind: ClaimType, claim: Claimed) -> StoredFact:
    """Return a claim with the time in its data, if its envelope has none.

    A time after its observation is that of a wrong clock.
    """
    if stored.fact.occurred_at is not None:
        return stored
    at = time_of(kind, claim)
    if at is None or at > stored.observed_at:
        return stored
    return replace(stored, fact=replace(stored.fact, occurred_at=at))


def _claimant(rule: Claimant | None, claim: Claimed) -> Actor | None:
    if rule is None:
        return None
    named = member(claim.data, rule.member) if rule.member else []
    name = next(iter(named), rule.name)
    return Actor(kind=rule.kind, name=name) if name else UNKNOWN
