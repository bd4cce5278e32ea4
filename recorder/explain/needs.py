"""What a verdict needs beyond the facts that name the node.

Pure: it names the objects, and a loader reads them. An audit record names
the requested object, not the node that this object is about.
"""

from collections.abc import Iterable

from recorder.facts import HOST_COMMAND
from recorder.facts.projections import NodeState
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.facts import Appeared, ConditionChanged, FieldChanged
from recorder.model.reference import ObjectIdentity

ObjectName = tuple[str, str, str]
"""API group, namespace and name, as audit records name an object."""

_OWN = frozenset({"Node", "Lease", "CSINode", "Event", ""})
"""Kinds that name the node themselves, or that are never requested."""

_POSTED = frozenset({FactKind.EVENT, FactKind.CLAIMED})
"""Facts that are reports about an object, and no change of it."""

_IDS = ("provider_id", "machine_id", "system_uuid")
_ID_MIN = 4
"""The length from which a part of a provider ID is no number in a set."""

_AUTHORED = frozenset({"DisruptionTarget", HOST_COMMAND})
_LEAVING = frozenset({FactKind.DELETION_REQUESTED, FactKind.VANISHED})


def objects_asked_for(facts: Iterable[StoredFact]) -> set[ObjectName]:
    """Return the objects whose authors a verdict needs, by its facts."""
    return {
        _name(stored.fact.object)
        for stored in facts
        if stored.fact.object is not None
        and stored.fact.kind is not FactKind.REQUESTED
        and _has_author(stored.fact, stored.fact.object)
    }


def _has_author(fact: Fact, thing: ObjectIdentity) -> bool:
    if thing.kind in _OWN or fact.kind in _POSTED:
        return False
    if thing.kind != "Pod":
        return True
    match fact.detail:
        case Appeared(created=created, state=state):
            return created and not state.owners
        case ConditionChanged(type=why) | FieldChanged(field=why):
            return why in _AUTHORED
        case _:
            return fact.kind in _LEAVING


def machines_of(facts: Iterable[StoredFact], base: NodeState) -> set[str]:
    """Return by what other objects may name the machine of a Node.

    The IDs that its system has, and the end of its provider ID: the instance,
    or a BareMetalHost and its Machine. What comes before is shared by many.

    Args:
        facts: about the Node.
        base: its state before them.
    """
    shown = [
        stored.fact.detail.state.fields
        for stored in facts
        if isinstance(stored.fact.detail, Appeared)
        and stored.fact.about == "Node"
    ]
    return {
        part
        for fields in (base.fields, *shown)
        for name in _IDS
        for part in _ends(str(fields.get(name) or ""))
        if len(part) >= _ID_MIN
    }


def _ends(named: str) -> list[str]:
    """Return what names one machine in an ID."""
    # metal3://NAMESPACE/BAREMETALHOST/MACHINE
    both = named.startswith("metal3://")
    return named.split("/")[-2 if both else -1 :]


def is_of_machine(fact: Fact) -> bool:
    """Whether a fact is about an object that names a machine as its node."""
    return fact.about not in _OWN | {"Pod"}


def is_request_about(fact: Fact, objects: set[ObjectName]) -> bool:
    """Whether a fact is an audit record about one of the objects."""
    return (
        fact.kind is FactKind.REQUESTED
        and fact.node is None
        and fact.object is not None
        and _name(fact.object) in objects
    )


def _name(thing: ObjectIdentity) -> ObjectName:
    return thing.group, thing.namespace, thing.name
