"""Signs around a Node: Events, Pods, other objects, and audit."""

from collections.abc import Iterator, Mapping
from typing import Any

from recorder.explain.actors import Actor, actor_of
from recorder.explain.sign import Sign, Subject
from recorder.explain.unfolding import dated, is_listed, unfolded
from recorder.knowledge import Fault, Knowledge, Role, matches
from recorder.knowledge.rules import ObjectRule
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.reference import ObjectIdentity

__all__ = [
    "event_signs",
    "names_in_locks",
    "other_signs",
    "pod_signs",
    "request_signs",
]

GOING = frozenset({FactKind.DELETION_REQUESTED, FactKind.VANISHED})

_KNOWN = {
    ("kubelet", "NodeAllocatableEnforced"): (Role.EFFECT, Subject.SET_UP),
    ("kubelet", "Rebooted"): (Role.EFFECT, Subject.REBOOTED),
    # Every kubelet sends these as it starts, and counts on when it is heard
    # again: by their count the same kubelet is told from a new one.
    ("kubelet", "NodeHasSufficientMemory"): (Role.RECOVERY, Subject.WORD),
    ("kubelet", "NodeHasNoDiskPressure"): (Role.RECOVERY, Subject.WORD),
    ("kubelet", "NodeHasSufficientPID"): (Role.RECOVERY, Subject.WORD),
    ("node-controller", "RemovingNode"): (Role.EFFECT, Subject.REMOVING),
}
"""Events of Kubernetes about a Node, by their reporter and reason."""


def event_signs(
    stored: StoredFact, about: str, knowledge: Knowledge
) -> Iterator[Sign]:
    """Yield the parts of a Kubernetes Event."""
    fact, detail = stored.fact, stored.fact.detail
    reporter, reason = fact.actor or "", detail.get("reason") or ""
    message = detail.get("message") or ""
    if about == "Node":
        own = _of_kubernetes(stored, reporter, reason, message)
        if own is not None:
            yield own
            return
    rule = knowledge.event(reporter, reason, about=about, message=message)
    if rule is not None:
        yield Sign(
            rule.role, f"event {reason}", stored, rule.fault, rule.decision,
            Actor.named(rule.actor), vague=rule.vague,
        )  # fmt: skip


def _of_kubernetes(
    stored: StoredFact, reporter: str, reason: str, message: str
) -> Sign | None:
    if (reporter, reason) == ("kubelet", "Shutdown"):
        off = "cancel" in message
        role = Role.RECOVERY if off else Role.ACT
        return Sign(role, Subject.SHUTDOWN, stored, over=off)
    if (reporter, reason) == ("kubelet", "Starting"):
        about_it = "kubelet" in message
        return Sign(Role.EFFECT, Subject.KUBELET, stored) if about_it else None
    known = _KNOWN.get((reporter, reason))
    return None if known is None else Sign(*known, stored)


def pod_signs(stored: StoredFact) -> Iterator[Sign]:
    """Yield the parts of what happens to a Pod."""
    fact, detail = stored.fact, stored.fact.detail
    if fact.kind is FactKind.CONTAINER_ENDED:
        if detail.get("reason") == "OOMKilled":
            fault = Fault.CONTAINER_OOM
            yield Sign(Role.FAULT, "container", stored, fault)
        return
    if fact.kind is FactKind.APPEARED:
        conditions = detail["state"].get("conditions", {})
        disrupted = conditions.get("DisruptionTarget")
    elif (
        fact.kind is FactKind.CONDITION_CHANGED
        and detail["type"] == "DisruptionTarget"
    ):
        disrupted = detail["new"]
    else:
        return
    if disrupted is not None and disrupted.get("status") == "True":
        yield from _disruption(stored, disrupted)


def _disruption(
    stored: StoredFact, disrupted: Mapping[str, Any]
) -> Iterator[Sign]:
    reason, message = disrupted.get("reason"), disrupted.get("message") or ""
    if reason == "EvictionByEvictionAPI":
        yield Sign(Role.ACT, Subject.EVICTION, stored)
    elif reason == "DeletionByTaintManager":
        yield Sign(Role.EFFECT, Subject.TAINT_EVICTION, stored)
    elif reason == "TerminationByKubelet" and "shutdown" in message:
        yield Sign(Role.ACT, Subject.SHUTDOWN, stored)


def other_signs(
    stored: StoredFact, about: str, knowledge: Knowledge, node: str
) -> Iterator[Sign]:
    """Yield the parts of what happens to any other object."""
    fact = stored.fact
    thing = fact.object
    if fact.kind is FactKind.ANNOTATION_CHANGED:
        yield from _lock(stored, about, knowledge, node)
    elif thing is None:
        return
    elif fact.kind is FactKind.CONDITION_CHANGED:
        yield from _turned(stored, thing, knowledge)
    else:
        if is_listed(stored):
            yield from _stood(stored, thing, knowledge, node)
        yield from _made(stored, thing, knowledge)


def _stood(
    stored: StoredFact, thing: ObjectIdentity, knowledge: Knowledge, node: str
) -> Iterator[Sign]:
    """Yield what an object held already when it was listed."""
    for told in unfolded(stored):
        if told.fact.kind is FactKind.CONDITION_CHANGED:
            yield from _turned(told, thing, knowledge)
        elif told.fact.kind is FactKind.ANNOTATION_CHANGED:
            yield from _lock(told, thing.kind, knowledge, node)


def names_in_locks(fact: Fact, knowledge: Knowledge) -> Iterator[str]:
    """Yield the nodes that annotations of an object name, as locks do."""
    if fact.object is None:
        return
    if fact.kind is FactKind.ANNOTATION_CHANGED:
        key = fact.detail["key"]
        held = [(key, fact.detail[side]) for side in ("new", "old")]
    elif fact.kind is FactKind.APPEARED and knowledge.locks:
        held = [*fact.detail["state"].get("annotations", {}).items()]
    else:
        return
    for key, value in held:
        rule = knowledge.lock(fact.object.kind, key)
        if rule is not None:
            yield from rule.holders(value)


def _lock(
    stored: StoredFact, about: str, knowledge: Knowledge, node: str
) -> Iterator[Sign]:
    detail = stored.fact.detail
    rule = knowledge.lock(about, detail["key"])
    if rule is None:
        return
    held = node in rule.holders(detail["new"])
    if held == (node in rule.holders(detail["old"])):
        return  # somebody else came or went
    # One that is handed on is a decision for the next node alone.
    yield Sign(
        Role.DECISION if held else Role.RECOVERY,
        f"lock {detail['key']}", stored, None, rule.decision if held else None,
        Actor.named(rule.actor), over=not held,
    )  # fmt: skip


def _turned(
    stored: StoredFact, thing: ObjectIdentity, knowledge: Knowledge
) -> Iterator[Sign]:
    """A condition of an object that is about a node."""
    detail = stored.fact.detail
    old, new = detail["old"], detail["new"]
    if old == new:
        return
    subject = f"{thing.kind} {thing.name} {detail['type']}"
    rules = knowledge.turned(thing.group, thing.kind, condition=detail["type"])
    for rule in rules:
        if _fits(rule, new):
            yield Sign(
                rule.role, subject, stored, None, rule.decision,
                Actor.named(rule.actor), vague=rule.vague,
            )  # fmt: skip
            return
        if _fits(rule, old):
            yield Sign(Role.RECOVERY, subject, stored, over=True)
            return
    made = knowledge.made(thing.group, thing.kind)
    if made is not None:
        actor = Actor.named(made.actor)
        yield Sign(Role.ACT, f"{thing.kind} {thing.name}", stored, actor=actor)


def _fits(rule: ObjectRule, condition: Mapping[str, Any] | None) -> bool:
    return (
        condition is not None
        and condition["status"] == rule.when
        and matches(rule.reasons, condition.get("reason") or "")
    )


def _made(
    stored: StoredFact, thing: ObjectIdentity, knowledge: Knowledge
) -> Iterator[Sign]:
    """An object that is about a node: it comes, changes, or goes."""
    kind = stored.fact.kind
    subject = f"{thing.kind} {thing.name}"
    gone = knowledge.unmade(thing.group, thing.kind)
    if gone is not None and kind in GOING:
        yield Sign(
            gone.role, f"end of {subject}", stored, None, gone.decision,
            Actor.named(gone.actor), vague=gone.vague,
        )  # fmt: skip
    made = knowledge.made(thing.group, thing.kind)
    if made is not None:
        yield from _asked(stored, made, subject)


def _asked(
    stored: StoredFact, rule: ObjectRule, subject: str
) -> Iterator[Sign]:
    """An object that exists for what it asks."""
    kind, actor = stored.fact.kind, Actor.named(rule.actor)
    if kind is FactKind.APPEARED:
        # One that is done already stands there until it is cleaned up.
        done = stored.fact.detail["state"].get("fields", {})
        if "completion_time" not in done:
            made = dated(stored)
            yield Sign(rule.role, subject, made, None, rule.decision, actor)
    elif kind is FactKind.VANISHED:
        yield Sign(Role.RECOVERY, subject, stored, over=True)
    elif kind is FactKind.FIELD_CHANGED:
        yield Sign(Role.ACT, subject, stored, actor=actor)


def request_signs(stored: StoredFact, knowledge: Knowledge) -> Iterator[Sign]:
    """Yield audit: who asked for what. It gives other signs their actor."""
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
