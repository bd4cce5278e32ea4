"""Signals around a Node: Events, Pods, other objects, and audit."""

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from recorder.explain.knowledge import Knowledge, matches
from recorder.explain.knowledge.rules import LockRule, ObjectRule
from recorder.explain.signals.actor import Actor, actor_of
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.facts import DEBUGGER, HOST_COMMAND, MANAGED_BY, REFUSED
from recorder.facts.classify.times import moment
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.facts import (
    AnnotationChanged,
    Appeared,
    ConditionChanged,
    ContainerEnded,
    Cordoned,
    Detail,
    Ended,
    EventOccurred,
    FieldChanged,
    LabelChanged,
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

GOING = frozenset({FactKind.DELETION_REQUESTED, FactKind.VANISHED})

_KNOWN = {
    ("kubelet", "NodeAllocatableEnforced"): (Role.EFFECT, Topic.SET_UP),
    ("kubelet", "Rebooted"): (Role.EFFECT, Topic.REBOOTED),
    # Every kubelet sends these as it starts, and continues its count when it
    # is heard from again: a new kubelet begins a new count.
    ("kubelet", "NodeHasSufficientMemory"): (Role.RECOVERY, Topic.WORD),
    ("kubelet", "NodeHasNoDiskPressure"): (Role.RECOVERY, Topic.WORD),
    ("kubelet", "NodeHasSufficientPID"): (Role.RECOVERY, Topic.WORD),
    ("node-controller", "RemovingNode"): (Role.EFFECT, Topic.REMOVING),
}
"""Events of Kubernetes about a Node, by their reporter and reason."""


def event_signals(
    stored: StoredFact, about: str, knowledge: Knowledge
) -> Iterator[Signal]:
    """Yield the signals of a Kubernetes Event."""
    detail = stored.fact.detail
    if not isinstance(detail, EventOccurred):
        return
    reporter, reason = stored.fact.actor or "", detail.reason or ""
    message = detail.message or ""
    if about == "Node":
        own = _of_kubernetes(stored, reporter, reason, message)
        if own is not None:
            yield own
            return
    rule = knowledge.event(reporter, reason, about=about, message=message)
    if rule is not None:
        yield Signal.by(rule, Subject(Topic.EVENT, reason), stored)


def _of_kubernetes(
    stored: StoredFact, reporter: str, reason: str, message: str
) -> Signal | None:
    if (reporter, reason) == ("kubelet", "Shutdown"):
        off = "cancel" in message
        role = Role.RECOVERY if off else Role.ACT
        return Signal(role, Subject(Topic.SHUTDOWN), stored, over=off)
    if (reporter, reason) == ("kubelet", "Starting"):
        about_it = "kubelet" in message
        return (
            Signal(Role.EFFECT, Subject(Topic.KUBELET), stored)
            if about_it
            else None
        )
    known = _KNOWN.get((reporter, reason))
    if known is None:
        return None
    role, topic = known
    return Signal(role, Subject(topic), stored)


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
        case ConditionChanged(type="DisruptionTarget", new=new):
            disrupted = new
        case _:
            pass
    yield from _commanded(stored, knowledge)
    if disrupted is not None and disrupted.status == "True":
        yield from _disruption(stored, disrupted)


def _commanded(stored: StoredFact, knowledge: Knowledge) -> Iterator[Signal]:
    """Yield what a Pod does to its node; of a shell that is not recorded.

    A Pod that is gone before it ran did nothing.
    """
    match stored.fact.detail:
        case Appeared(state=state, created=True):
            over = False
        case Vanished(state=state) if state.fields.get("phase") == "Pending":
            over = True
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


def _disruption(stored: StoredFact, disrupted: Condition) -> Iterator[Signal]:
    reason, message = disrupted.reason, disrupted.message or ""
    if reason == "EvictionByEvictionAPI":
        yield Signal(Role.ACT, Subject(Topic.EVICTION), stored)
    elif reason == "DeletionByTaintManager":
        yield Signal(Role.EFFECT, Subject(Topic.TAINT_EVICTION), stored)
    elif reason == "TerminationByKubelet" and "shutdown" in message:
        yield Signal(Role.ACT, Subject(Topic.SHUTDOWN), stored)


def other_signals(
    stored: StoredFact, about: str, knowledge: Knowledge, node: str
) -> Iterator[Signal]:
    """Yield the signals of a fact about any other object."""
    detail, thing = stored.fact.detail, stored.fact.object
    if isinstance(detail, AnnotationChanged):
        yield from _lock(
            stored, detail, knowledge.lock(about, detail.key), node
        )
    elif thing is None:
        return
    elif isinstance(detail, ConditionChanged):
        yield from _turned(stored, detail, thing, knowledge)
    else:
        if is_listed(stored):
            yield from _held_already(stored, thing, knowledge, node)
        yield from _made(stored, thing, knowledge)


def _held_already(
    stored: StoredFact, thing: ObjectIdentity, knowledge: Knowledge, node: str
) -> Iterator[Signal]:
    """Yield the signals that an object already held when it was listed."""
    for held in unfolded(stored, _is_held):
        detail = held.fact.detail
        if isinstance(detail, ConditionChanged):
            yield from _turned(held, detail, thing, knowledge)
        elif isinstance(detail, AnnotationChanged):
            rule = knowledge.lock(thing.kind, detail.key)
            yield from _lock(held, detail, rule, node)


def _is_held(detail: Detail) -> bool:
    return isinstance(detail, ConditionChanged | AnnotationChanged)


def names_in_locks(fact: Fact, knowledge: Knowledge) -> Iterator[str]:
    """Yield the nodes that locks in the annotations of an object name."""
    if fact.object is None:
        return
    held: Iterable[tuple[str, str | None]]
    match fact.detail:
        case AnnotationChanged() as detail:
            held = [(detail.key, detail.new), (detail.key, detail.old)]
        case Appeared(state=state) if knowledge.locks:
            held = state.annotations.items()
        case _:
            return
    for key, value in held:
        rule = knowledge.lock(fact.object.kind, key)
        if rule is not None:
            yield from rule.holders(value)


def _lock(
    stored: StoredFact,
    detail: AnnotationChanged,
    rule: LockRule | None,
    node: str,
) -> Iterator[Signal]:
    if rule is None:
        return
    held = node in rule.holders(detail.new)
    if held == (node in rule.holders(detail.old)):
        return  # another node joined or left
    # A lock that is passed on is a decision for the next node alone.
    yield Signal(
        Role.DECISION if held else Role.RECOVERY,
        Subject(Topic.LOCK, detail.key), stored, None,
        rule.decision if held else None, Actor.named(rule.actor),
        over=not held,
    )  # fmt: skip


def _turned(
    stored: StoredFact,
    detail: ConditionChanged,
    thing: ObjectIdentity,
    knowledge: Knowledge,
) -> Iterator[Signal]:
    """Yield the signals of a condition of an object about a node."""
    old, new = detail.old, detail.new
    if old == new:
        return
    turned = f"{thing.kind}/{thing.name} {detail.type}"
    subject = Subject(Topic.OBJECT_CONDITION, turned)
    rules = knowledge.turned(thing.group, thing.kind, condition=detail.type)
    for rule in rules:
        if _fits(rule, new):
            yield Signal.by(rule, subject, stored)
            return
        if _fits(rule, old):
            yield Signal(Role.RECOVERY, subject, stored, over=True)
            return
    made = knowledge.made(thing.group, thing.kind)
    if made is not None:
        actor = Actor.named(made.actor)
        yield Signal(Role.ACT, _named(thing), stored, actor=actor)


def _fits(rule: ObjectRule, condition: Condition | None) -> bool:
    return (
        condition is not None
        and condition.status == rule.when
        and matches(rule.reasons, condition.reason or "")
    )


def _made(
    stored: StoredFact, thing: ObjectIdentity, knowledge: Knowledge
) -> Iterator[Signal]:
    """Yield the signals of an object about a node that appears or changes."""
    kind = stored.fact.kind
    subject = _named(thing)
    gone = knowledge.unmade(thing.group, thing.kind)
    if gone is not None and kind in GOING:
        ended = Subject(Topic.OBJECT_END, subject.name)
        yield Signal.by(gone, ended, stored)
    made = knowledge.made(thing.group, thing.kind)
    if made is not None:
        yield from _asked(stored, made, subject)


def _named(thing: ObjectIdentity) -> Subject:
    return Subject(Topic.OBJECT, f"{thing.kind}/{thing.name}")


def _asked(
    stored: StoredFact, rule: ObjectRule, subject: Subject
) -> Iterator[Signal]:
    """Yield the signals of an object that is a request."""
    actor = Actor.named(rule.actor)
    match stored.fact.detail:
        case Appeared(state=state):
            # A completed one remains until it is cleaned up.
            if "completion_time" in state.fields:
                return
            yield Signal.by(rule, subject, dated(stored))
        case Vanished():
            yield Signal(Role.RECOVERY, subject, stored, over=True)
        case FieldChanged():
            yield Signal(Role.ACT, subject, stored, actor=actor)
        case _:
            pass


def _registers_again(detail: Requested) -> bool:
    """Whether a kubelet that started found that its Node exists."""
    return (
        detail.verb == "create"
        and detail.resource == "nodes"
        and detail.code == CONFLICT
    )


def _of_kubelet(
    stored: StoredFact, detail: Requested, *, own: bool
) -> Iterator[Signal]:
    """Yield that a kubelet started, or that its credentials are refused."""
    if own and _registers_again(detail):
        yield Signal(Role.EFFECT, Subject(Topic.KUBELET), stored)
    elif detail.code == UNAUTHORIZED and (
        # The user of such a client is not known.
        (detail.user_agent or "").startswith("kubelet/")
    ):
        yield Signal(Role.FAULT, Subject(Topic.CLIENT), stored, Fault.KUBELET)


def request_signals(
    stored: StoredFact, knowledge: Knowledge
) -> Iterator[Signal]:
    """Yield the signals of an audit record, which name the actor of others."""
    detail = stored.fact.detail
    if not isinstance(detail, Requested):
        return
    own = (stored.fact.actor or "").startswith("system:node:")
    yield from _of_kubelet(stored, detail, own=own)
    if detail.verb not in CHANGING:
        return
    if (detail.code or 0) >= 300:  # noqa: PLR2004 - refused
        return
    if own:
        return  # it shows that a kubelet runs, and requests nothing
    actor = actor_of(
        stored.fact.actor, knowledge, audited=True, client=detail.user_agent
    )
    if actor is not None and stored.fact.actor == detail.acted_as:
        account = (detail.user or "").rpartition(":")[2]
        actor = replace(actor, tool=account)
    target = f"{detail.verb} {detail.resource}"
    if detail.subresource:
        target += f"/{detail.subresource}"
    yield Signal(
        Role.ACT,
        Subject(Topic.REQUEST, target),
        stored,
        actor=actor,
    )


def is_listed(stored: StoredFact) -> bool:
    """Return whether a list showed an object other than a Node.

    It existed before, for an unknown time.
    """
    fact = stored.fact
    return (
        isinstance(fact.detail, Appeared)
        and fact.object is not None
        and fact.object.kind != "Node"
        and not fact.detail.created
    )


def dated(seen: StoredFact) -> StoredFact:
    """Return the fact that an object appeared, at its time of creation."""
    detail = seen.fact.detail
    if not isinstance(detail, Appeared) or not is_listed(seen):
        return seen
    made = moment(detail.state.created_at)
    if made is None:
        return seen
    fact = replace(seen.fact, occurred_at=made)
    return replace(seen, fact=fact)


def unfolded(
    seen: StoredFact, is_relevant: Callable[[Detail], bool]
) -> Iterator[StoredFact]:
    """Yield its conditions, taints, labels and annotations as they came.

    A condition has its time; what one field manager owns was set at the
    latest when its entry changed; the rest has none. Irrelevant ones are left
    out: most labels of most objects.
    """
    shown = seen.fact.detail
    assert isinstance(shown, Appeared), "asked of nothing else"
    number = seen.index
    owned = {name: one for one in shown.state.held for name in one.names}
    for kind, detail, since in _details(shown.state):
        number += 1
        if not is_relevant(detail):
            continue
        held = owned.get(_place(detail))
        fact = Fact(
            kind=kind,
            node=seen.fact.node,
            object=seen.fact.object,
            occurred_at=moment(held.time if held and not since else since),
            actor=held.manager if held else None,
            detail=detail,
        )
        yield StoredFact(
            entry=seen.entry,
            index=number,
            observed_at=seen.observed_at,
            fact=fact,
        )


def _place(detail: Detail) -> str:
    """Return where a Node has a detail, as who owns it is kept."""
    match detail:
        case Cordoned():
            return "unschedulable"
        case Tainted():
            return "taints"
        case AnnotationChanged(key=key):
            return f"annotations/{key}"
        case _:
            return ""


def _details(
    state: ObjectState,
) -> Iterator[tuple[FactKind, Detail, str | None]]:
    """Yield each detail with the time that it states, not yet parsed."""
    for name, condition in sorted(state.conditions.items()):
        if name != "Ready":
            turned = ConditionChanged(name, None, condition)
            yield FactKind.CONDITION_CHANGED, turned, condition.since
    for taint in state.taints:
        tainted = Tainted(taint.key, taint.value, taint.effect)
        yield FactKind.TAINTED, tainted, None
    for key, value in sorted(state.labels.items()):
        yield FactKind.LABEL_CHANGED, LabelChanged(key, None, value), None
    for key, value in sorted(state.annotations.items()):
        noted = AnnotationChanged(key, None, value)
        yield FactKind.ANNOTATION_CHANGED, noted, None
    if state.fields.get("unschedulable"):
        yield FactKind.CORDONED, Cordoned(), None
