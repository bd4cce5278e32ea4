"""Signs: facts with the part that they may play in a chain.

What literals of controllers mean comes from the rules; what Kubernetes itself
does to a Node is code here. A sign is evidence, not yet a cause.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from recorder.explain.actors import Actor, actor_of
from recorder.explain.sign import Sign, Subject
from recorder.knowledge import Fault, Knowledge, Role
from recorder.knowledge.rules import ConditionRule, TextRule
from recorder.model.fact import FactKind, StoredFact

__all__ = ["Sign", "Subject", "signs_of"]


def signs_of(
    stored: StoredFact, knowledge: Knowledge, *, node: str
) -> list[Sign]:
    """Give the parts that a fact may play for a node that it concerns."""
    fact = stored.fact
    about = fact.object.kind if fact.object is not None else ""
    if fact.kind is FactKind.EVENT:
        return list(_event(stored, about, knowledge))
    if fact.kind is FactKind.REQUESTED:
        return list(_request(stored, knowledge))
    if fact.kind is FactKind.LEASE_SILENT:
        return [Sign(Role.EFFECT, Subject.SILENCE, stored)]
    if about == "Node":
        return list(_node(stored, knowledge))
    if about == "Pod":
        return list(_pod(stored))
    return list(_other(stored, about, knowledge, node))


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


def _node(stored: StoredFact, knowledge: Knowledge) -> Iterator[Sign]:
    fact, detail = stored.fact, stored.fact.detail
    actor = actor_of(fact.actor, knowledge)
    if fact.kind in _OF_NODE:
        role, subject, over = _OF_NODE[fact.kind]
        yield Sign(role, subject, stored, actor=actor, over=over)
    elif fact.kind is FactKind.FIELD_CHANGED:
        if detail["field"] in VERSIONS:
            yield Sign(Role.ACT, Subject.VERSION, stored)
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


def _condition(
    stored: StoredFact, actor: Actor | None, knowledge: Knowledge
) -> Iterator[Sign]:
    detail = stored.fact.detail
    name, old, new = detail["type"], detail["old"], detail["new"]
    if name == "Ready":
        yield from _ready(stored, old, new)
        return
    rule = knowledge.condition(name)
    if rule is None:
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
        yield Sign(Role.DECISION, subject, stored, None, rule.decision, actor)
        return
    fault = _fault(rule, new)
    if fault is not None:
        yield Sign(Role.FAULT, subject, stored, fault, None, actor)
    elif rule.role is not None and not was:
        yield Sign(rule.role, subject, stored, actor=actor)


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
    """Give the fault in a part of a message, and whether a rule names it."""
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
            Actor.named(rule.actor) or actor,
        )  # fmt: skip
    else:
        yield Sign(Role.ACT, subject, stored, actor=actor)


def _text(
    stored: StoredFact, actor: Actor | None, knowledge: Knowledge
) -> Iterator[Sign]:
    detail = stored.fact.detail
    label = stored.fact.kind is FactKind.LABEL_CHANGED
    rules = knowledge.labels if label else knowledge.annotations
    subject = f"{'label' if label else 'annotation'} {detail['key']}"
    old, new = detail["old"], detail["new"]
    rule = knowledge.text(rules, detail["key"], new or "")
    if new is None or rule is None:
        if old is not None and knowledge.text(rules, detail["key"], old):
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


def _event(
    stored: StoredFact, about: str, knowledge: Knowledge
) -> Iterator[Sign]:
    fact, detail = stored.fact, stored.fact.detail
    reporter, reason = fact.actor or "", detail.get("reason") or ""
    message = detail.get("message") or ""
    if reporter == "kubelet" and about == "Node":
        if reason == "Starting" and "kubelet" in message:
            yield Sign(Role.EFFECT, Subject.KUBELET, stored)
            return
        if reason == "Rebooted":
            yield Sign(Role.EFFECT, Subject.REBOOTED, stored)
            return
        if reason == "Shutdown" and "cancel" not in message:
            yield Sign(Role.ACT, Subject.SHUTDOWN, stored)
            return
    rule = knowledge.event(reporter, reason, about=about, message=message)
    if rule is not None:
        yield Sign(
            rule.role, f"event {reason}", stored, rule.fault, rule.decision,
            Actor.named(rule.actor),
        )  # fmt: skip


def _pod(stored: StoredFact) -> Iterator[Sign]:
    fact, detail = stored.fact, stored.fact.detail
    if fact.kind is FactKind.CONTAINER_ENDED:
        if detail.get("reason") == "OOMKilled":
            fault = Fault.CONTAINER_OOM
            yield Sign(Role.FAULT, "container", stored, fault)
        return
    if (
        fact.kind is not FactKind.CONDITION_CHANGED
        or detail["type"] != "DisruptionTarget"
        or (detail["new"] or {}).get("status") != "True"
    ):
        return
    reason = detail["new"].get("reason")
    message = detail["new"].get("message") or ""
    if reason == "EvictionByEvictionAPI":
        yield Sign(Role.ACT, Subject.EVICTION, stored)
    elif reason == "DeletionByTaintManager":
        yield Sign(Role.EFFECT, Subject.TAINT_EVICTION, stored)
    elif reason == "TerminationByKubelet" and "shutdown" in message:
        yield Sign(Role.ACT, Subject.SHUTDOWN, stored)


def _other(
    stored: StoredFact, about: str, knowledge: Knowledge, node: str
) -> Iterator[Sign]:
    fact, detail = stored.fact, stored.fact.detail
    thing = fact.object
    if fact.kind is FactKind.ANNOTATION_CHANGED:
        rule = knowledge.lock(about, detail["key"])
        if rule is None:
            return
        subject = f"lock {detail['key']}"
        # One that is handed on is a decision for the next node alone.
        held = rule.holder(detail["new"]) == node
        yield Sign(
            Role.DECISION if held else Role.RECOVERY,
            subject, stored, None, rule.decision if held else None,
            Actor.named(rule.actor), over=not held,
        )  # fmt: skip
        return
    if thing is None:
        return
    made = knowledge.made(thing.group, thing.kind)
    if made is None:
        return
    subject = f"{thing.kind} {thing.name}"
    if fact.kind is FactKind.APPEARED:
        yield Sign(
            made.role, subject, stored, None, made.decision,
            Actor.named(made.actor),
        )  # fmt: skip
    elif fact.kind is FactKind.VANISHED:
        yield Sign(Role.RECOVERY, subject, stored, over=True)
    elif fact.kind in {FactKind.CONDITION_CHANGED, FactKind.FIELD_CHANGED}:
        yield Sign(Role.ACT, subject, stored, actor=Actor.named(made.actor))


def _request(stored: StoredFact, knowledge: Knowledge) -> Iterator[Sign]:
    """Audit: who asked for what. It gives other signs their actor."""
    detail = stored.fact.detail
    if detail.get("verb") not in {"create", "update", "patch", "delete"}:
        return
    if (detail.get("code") or 0) >= 300:  # noqa: PLR2004 - refused
        return
    subject = "/".join(
        [
            "request",
            str(detail.get("verb")),
            str(detail.get("resource")),
            str(detail.get("subresource", "")),
        ]
    )
    yield Sign(
        Role.ACT,
        subject,
        stored,
        actor=actor_of(stored.fact.actor, knowledge, audited=True),
    )
