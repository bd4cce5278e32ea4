"""Signs: facts with the part that they may play in a chain.

What literals of controllers mean comes from the rules; what Kubernetes itself
does to a Node is code here. A sign is evidence, not yet a cause.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from recorder.explain.actors import Actor, actor_of
from recorder.explain.sign import Sign, Subject
from recorder.explain.surroundings import (
    event_signs,
    other_signs,
    pod_signs,
    request_signs,
)
from recorder.knowledge import Decision, Fault, Knowledge, Role
from recorder.knowledge.rules import ConditionRule, TextRule
from recorder.model.fact import FactKind, StoredFact

__all__ = ["Sign", "Subject", "signs_of"]


def signs_of(
    stored: StoredFact, knowledge: Knowledge, *, node: str
) -> list[Sign]:
    """Return the parts that a fact may play for a node that it concerns."""
    fact = stored.fact
    about = fact.object.kind if fact.object is not None else ""
    if fact.kind is FactKind.EVENT:
        return list(event_signs(stored, about, knowledge))
    if fact.kind is FactKind.REQUESTED:
        return list(request_signs(stored, knowledge))
    if fact.kind is FactKind.LEASE_SILENT:
        return [Sign(Role.EFFECT, Subject.SILENCE, stored)]
    if about == "Node":
        return list(_node(stored, knowledge))
    if about == "Pod":
        return list(pod_signs(stored))
    return list(other_signs(stored, about, knowledge, node))


_OF_NODE = {
    FactKind.APPEARED: (Role.EFFECT, Subject.IDENTITY, False),
    FactKind.VANISHED: (Role.EFFECT, Subject.IDENTITY, True),
    FactKind.DELETION_REQUESTED: (Role.ACT, Subject.DELETION, False),
    FactKind.BOOT_CHANGED: (Role.EFFECT, Subject.BOOT, False),
    FactKind.CORDONED: (Role.ACT, Subject.CORDON, False),
    FactKind.UNCORDONED: (Role.RECOVERY, Subject.CORDON, True),
}
"""Role, subject, and whether it ends what began, of plain changes."""

VERSIONS = frozenset({"kernel_version", "os_image"})

LATER = ("planned", "scheduled", "required", "needed", "recommended", "last")
"""Parts of such names by which it is told what may be done some day."""

WISHES = ("reboot", "powercycle", "powerreset", "maintenance")
"""Parts of what conditions are called by which somebody asks for a reboot."""


def _node(stored: StoredFact, knowledge: Knowledge) -> Iterator[Sign]:
    fact, detail = stored.fact, stored.fact.detail
    actor = actor_of(fact.actor, knowledge)
    if fact.kind in _OF_NODE:
        role, subject, over = _OF_NODE[fact.kind]
        decision = None
        if actor is not None and actor.known and subject == Subject.CORDON:
            # Who does all for one reason had that one.
            decision = knowledge.purpose(actor.name or "")
        yield Sign(
            role, subject, stored, None, None if over else decision, actor,
            over=over, vague=decision is not None,
        )  # fmt: skip
    elif fact.kind is FactKind.FIELD_CHANGED:
        yield from _field(stored, detail["field"])
    elif fact.kind is FactKind.CONDITION_CHANGED:
        yield from _condition(stored, actor, knowledge)
    elif fact.kind is FactKind.RESOURCE_CHANGED:
        yield from _gpus(stored)
    elif fact.kind in {FactKind.TAINTED, FactKind.UNTAINTED}:
        yield from _taint(stored, actor, knowledge)
    elif fact.kind in {
        FactKind.ANNOTATION_CHANGED,
        FactKind.LABEL_CHANGED,
    }:
        yield from _text(stored, actor, knowledge)


def _field(stored: StoredFact, field: str) -> Iterator[Sign]:
    if field in VERSIONS:
        yield Sign(Role.ACT, Subject.VERSION, stored)
    elif field == "kubelet_version":
        # No kubelet becomes another without being started anew.
        yield Sign(Role.EFFECT, Subject.KUBELET, stored)


def _condition(
    stored: StoredFact, actor: Actor | None, knowledge: Knowledge
) -> Iterator[Sign]:
    detail = stored.fact.detail
    name, old, new = detail["type"], detail["old"], detail["new"]
    own = _OF_KUBERNETES.get(name)
    if own is not None:
        yield from own(stored, old, new)
        return
    rule = knowledge.condition(name)
    if rule is None:
        yield from _wish(stored, name, actor)
        return
    subject = f"condition {name}"
    was = old is not None and old["status"] == rule.when
    if new is None or new["status"] != rule.when:
        if was:
            role = Role.RECOVERY
            yield Sign(role, subject, stored, actor=actor, over=True)
        return
    if rule.decision is not None and not was:
        # Who a rule names is known; whoever wrote it is a guess.
        actor = Actor.named(rule.actor) or actor
        decision = _decision(rule, new)
        yield Sign(Role.DECISION, subject, stored, None, decision, actor)
        return
    fault = _fault(rule, new)
    if fault is not None:
        yield Sign(Role.FAULT, subject, stored, fault, None, actor)
    elif rule.role is not None and not was:
        yield Sign(rule.role, subject, stored, actor=actor)


def _wish(
    stored: StoredFact, name: str, actor: Actor | None
) -> Iterator[Sign]:
    """A condition that no rule knows, set by hand: what it is called.

    Programs tell by such names what would be good to do; a person has it
    done.
    """
    if not any(word in name.lower() for word in WISHES):
        return
    old, new = stored.fact.detail["old"], stored.fact.detail["new"]
    was = old is not None and old["status"] == "True"
    subject = f"condition {name}"
    if was and (new is None or new["status"] != "True"):
        yield Sign(Role.RECOVERY, subject, stored, actor=actor, over=True)
    elif not was and actor is not None and not actor.is_program:
        wish = Decision.ADMIN_REQUEST
        vague = any(word in name.lower() for word in LATER)
        yield Sign(
            Role.DECISION, subject, stored, None, wish, actor, vague=vague
        )  # fmt: skip


def _decision(rule: ConditionRule, new: dict[str, Any]) -> Decision | None:
    message, reason = new.get("message") or "", new.get("reason") or ""
    for text, decision in rule.announced.items():
        if text in message:
            return decision
    return rule.decisions.get(reason, rule.decision)


def _fault(rule: ConditionRule, new: dict[str, Any]) -> Fault | None:
    message, reason = new.get("message") or "", new.get("reason") or ""
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


def _ready(stored: StoredFact, old: Any, new: Any) -> Iterator[Sign]:
    before = old["status"] if old is not None else None
    now = new["status"] if new is not None else None
    message = (new or {}).get("message") or ""
    if "node is shutting down" in message:
        yield Sign(Role.ACT, Subject.SHUTDOWN, stored)
    if now == before:
        return
    if now == "True":
        yield Sign(Role.RECOVERY, Subject.READY, stored, over=True)
    else:
        yield Sign(Role.EFFECT, Subject.READY, stored)


def _shutdown(stored: StoredFact, old: Any, new: Any) -> Iterator[Sign]:
    was, now = ((c or {}).get("status") == "True" for c in (old, new))
    if was != now:
        role = Role.ACT if now else Role.RECOVERY
        yield Sign(role, Subject.SHUTDOWN, stored, over=was)


_OF_KUBERNETES = {
    "Ready": _ready,
    # From 1.37 on.
    "GracefulNodeShutdownInProgress": _shutdown,
}
"""Conditions of Kubernetes itself."""


def _gpus(stored: StoredFact) -> Iterator[Sign]:
    detail = stored.fact.detail
    if detail["list"] != "allocatable" or not detail["resource"].endswith(
        "gpu"
    ):
        return
    old, new = _number(detail["old"]), _number(detail["new"])
    whole = _number(detail["capacity"])
    if new < old and 0 < new < whole:
        # None at all is a plugin that has not registered yet.
        fault = Fault.GPU
        yield Sign(Role.FAULT, Subject.GPUS, stored, fault)
    elif new > old and new >= whole:
        yield Sign(Role.RECOVERY, Subject.GPUS, stored, over=True)


def _number(amount: Any) -> int:
    return int(amount) if str(amount or "").isdecimal() else 0


def _taint(
    stored: StoredFact, actor: Actor | None, knowledge: Knowledge
) -> Iterator[Sign]:
    detail = stored.fact.detail
    subject = f"taint {detail['key']}"
    if stored.fact.kind is FactKind.UNTAINTED:
        yield Sign(Role.RECOVERY, subject, stored, actor=actor, over=True)
        return
    rule = knowledge.taint(detail["key"], detail["value"] or "")
    if rule is not None:
        yield Sign(
            rule.role, subject, stored, None, rule.decision,
            Actor.named(rule.actor) or actor, vague=rule.vague,
        )  # fmt: skip
    else:
        yield Sign(Role.ACT, subject, stored, actor=actor)


def _text(
    stored: StoredFact, actor: Actor | None, knowledge: Knowledge
) -> Iterator[Sign]:
    detail = stored.fact.detail
    label = stored.fact.kind is FactKind.LABEL_CHANGED
    ruled = knowledge.label if label else knowledge.annotation
    subject = f"{'label' if label else 'annotation'} {detail['key']}"
    old, new = detail["old"], detail["new"]
    rule = ruled(detail["key"], new or "")
    if new is None or rule is None:
        if old is not None and ruled(detail["key"], old):
            yield Sign(Role.RECOVERY, subject, stored, actor=actor, over=True)
        return
    yield Sign(
        rule.role, subject, stored, rule.fault, rule.decision,
        Actor.named(rule.actor) or actor, _due(rule, new),
    )  # fmt: skip


def _due(rule: TextRule, value: str) -> datetime | None:
    if not rule.is_time or not value.isdecimal():
        return None
    try:
        return datetime.fromtimestamp(int(value), UTC)
    except (OverflowError, ValueError, OSError):
        return None
