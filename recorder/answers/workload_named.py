"""Finding the workload that a name means, over kinds and namespaces.

A bare name means the workload or the Pod that has it. So does a name with a
kind that no object of that name has: `job/x` of what is a JobSet.
"""

from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.answers.families import BARE_MAX
from recorder.answers.kinds import kind_of
from recorder.answers.naming import ObjectNameError, Reference, did_you_mean
from recorder.answers.nouns import Incarnation, Place
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    FactQuery,
    Incarnations,
    Kinds,
    NodeNames,
    ObjectNames,
    ObjectsLike,
    Purpose,
)
from recorder.answers.references import (
    KnownObject,
    find_objects,
    object_named,
    searched,
    take,
)
from recorder.facts.projections import (
    GANGS,
    SERVERS,
    Placements,
    Workload,
    Workloads,
)
from recorder.model.errors import NotFoundError
from recorder.model.fact import StoredFact
from recorder.model.kinds import plural_of

LISTED_MAX = 10
"""Workloads of one name that a message lists."""

NO_WORK = frozenset({"Node", "Event", "Namespace"})
"""Kinds of objects that own no Pods."""


@dataclass(frozen=True, slots=True)
class NamedWorkload:
    """A workload, a part of one or a Pod, and how it was found."""

    found: KnownObject
    note: str | None = None
    """That it is of another kind than asked, in words."""


async def find_workload(
    reading: Reading, reference: Reference, *, until: datetime | None
) -> NamedWorkload:
    """Return the workload or the Pod with a name.

    Args:
        reading: the log.
        reference: its name; without a kind, of any kind.
        until: up to when the log is read; None for its end.

    Raises:
        NotFoundError: the log has no such object.
        ConfigError: several objects have the name.
    """
    if not reference.word:
        found = await _found(reading, reference, until)
        if not found:
            raise await _none(reading, reference)
        return NamedWorkload(_one(reference, found))
    try:
        return NamedWorkload(await find_objects(reading, reference))
    except NotFoundError:
        found = await _found(reading, reference, until)
        if not found:
            raise
    own = [one for one in found if one.kind.is_called(reference.word.lower())]
    one = _one(reference, own or found)
    name = _name_of(one)
    note = None if own else f'there is no "{reference}": this is {name}'
    return NamedWorkload(one, note)


async def _found(
    reading: Reading, reference: Reference, until: datetime | None
) -> Sequence[KnownObject]:
    """Return the workloads of any kind with a name, by objects or labels."""
    found = await _named(reading, reference, until)
    return found or await _labelled(reading, reference, until)


async def _labelled(
    reading: Reading, reference: Reference, until: datetime | None
) -> Sequence[KnownObject]:
    """Return the workloads of a name that only labels of Pods have.

    Those Pods are its objects: their names begin with that of what made them.
    """
    pods = await reading.names(
        ObjectsLike(
            text=reference.name,
            kind=None,
            limit=BARE_MAX,
            within=[Place("", "Pod", reference.namespace)],
        )
    )
    named = {
        pod.uid: pod
        for pod in pods
        if pod.uid is not None and pod.name.startswith(reference.name)
    }
    if not named:
        return []
    query = FactQuery(purpose=Purpose.FAMILY, uids=named, until=until)
    facts = await reading.facts(query)
    workloads = Workloads(facts)
    found: dict[tuple[str, str], list[Incarnation]] = {}
    for pod in Placements(facts):
        one, known = workloads.of(pod), named.get(pod.pod.uid or "")
        if one and known and one.name == reference.name:
            identity = known._replace(group="", kind=one.kind, name=one.name)
            place = one.kind, one.namespace
            found.setdefault(place, []).append(Incarnation(0, identity))
    return [
        KnownObject(kind_of("", kind), own) for (kind, _), own in found.items()
    ]


async def _named(
    reading: Reading, reference: Reference, until: datetime | None
) -> Sequence[KnownObject]:
    """Return the workloads of any kind with a name, and else what has Pods."""
    filed = await reading.names(Kinds())
    incarnations = await reading.names(
        Incarnations(
            kinds=[pair for pair in filed if pair[1] not in NO_WORK],
            namespace=reference.namespace,
            name=reference.name,
        )
    )
    known = _objects(incarnations)
    uids = {uid for one in known for uid in one.uids}
    if not uids:
        return []
    facts = await family_of(reading, uids, until)
    workloads = Workloads(facts)
    tops: set[str | None] = set()
    owners: set[str | None] = set()
    for pod in Placements(facts):
        workload = workloads.of(pod)
        owners.update(one.uid for one in pod.owners)
        tops.add(pod.pod.uid if workload is None else workload.uid)
    above = [one for one in known if tops.intersection(one.uids)]
    pods = (one for one in known if one.kind.kind == "Pod")
    parts = (one for one in known if owners.intersection(one.uids))
    # What waits has no Pods yet.
    waiting = (one for one in known if one.kind.kind in GANGS | SERVERS)
    return above or [*parts, *pods] or [*waiting]


async def family_of(
    reading: Reading, uids: Collection[str], until: datetime | None
) -> Sequence[StoredFact]:
    """Return the facts about objects and all that they own, down to Pods.

    A list without kinds files an object under its plural, and its Pods name
    their owner by its kind: what is owned is then asked for again, by UID.
    """
    while True:
        query = FactQuery(purpose=Purpose.FAMILY, uids=uids, until=until)
        facts = await reading.facts(query)
        things = [one.fact.object for one in facts]
        known = {thing.uid for thing in things if thing and thing.uid}
        has_pods = any(thing and thing.kind == "Pod" for thing in things)
        if has_pods or known <= {*uids}:
            return facts
        uids = known | {*uids}


def waiting_workload(found: KnownObject) -> Workload | None:
    """Return a workload that had no Pods yet; None if its kind has none."""
    if not found.uids or found.kind.kind not in GANGS | SERVERS:
        return None
    last = found.incarnations[-1].identity
    return Workload(found.kind.kind, last.namespace, last.name, found.uids[-1])


def _objects(incarnations: Sequence[Incarnation]) -> list[KnownObject]:
    """Return objects with their incarnations, by kind and namespace."""
    found: dict[tuple[str, str, str], list[Incarnation]] = {}
    for one in incarnations:
        of = one.identity
        place = of.group, plural_of(of.kind), of.namespace
        found.setdefault(place, []).append(one)
    objects: list[KnownObject] = []
    for (group, _, _), own in found.items():
        kind = kind_of(group, own[0].identity.kind)
        take(objects, KnownObject(kind, own))
    return objects


def _name_of(found: KnownObject) -> str:
    identity = found.incarnations[-1].identity
    return object_named(identity._replace(group=found.kind.group))


def _one(reference: Reference, found: Sequence[KnownObject]) -> KnownObject:
    """Return the only object.

    Raises:
        ConfigError: there are several.
    """
    if len(found) == 1:
        return found[0]
    names = sorted(map(_name_of, found))
    listed = ", ".join(names[:LISTED_MAX])
    more = len(names) - LISTED_MAX
    rest = f" and {more} more" if more > 0 else ""
    commands = [f"`recorder why {name}`" for name in names[:LISTED_MAX]]
    msg = f'"{reference}" names several workloads: {listed}{rest}'
    advice = f"ask about one: {' or '.join(commands)}"
    raise ObjectNameError(msg, advice=advice)


async def _none(reading: Reading, reference: Reference) -> NotFoundError:
    """Return the error for a bare name that nothing has."""
    filed = await reading.names(Kinds())
    work = [pair for pair in filed if pair[1] in GANGS | SERVERS]
    places = await reading.names(ObjectNames(work)) if work else ()
    known = {name for _, name in places} | {*await reading.names(NodeNames())}
    where = f' in namespace "{reference.namespace}"'
    hint = did_you_mean(reference.name, sorted(known))
    msg = (
        f"{reading.log.named} has no node or workload"
        f' "{reference.name}"{where if reference.namespace else ""}{hint}'
    )
    advice = "" if hint else searched(reference.name)
    return NotFoundError(msg, advice=advice, node=reference.name)


async def workload_of(
    reading: Reading,
    reference: Reference,
    found: KnownObject,
    *,
    until: datetime | None,
) -> tuple[Sequence[StoredFact], Workload]:
    """Read the facts about the workload that an object is, or is part of.

    Raises:
        NotFoundError: the object had no Pods.
    """
    uids = set(found.uids)
    if found.kind.kind != "Pod":
        facts = await family_of(reading, uids, until)
        owned = _owners(facts, None)
        own = [one for one in owned if one.uid in uids]
        if own:
            return facts, own[-1]
        waiting = None if owned else waiting_workload(found)
        if waiting is not None:
            return facts, waiting
        # It is part of another one, which its family may not include.
        uids = {
            pod.pod.uid for pod in Placements(facts) if pod.pod.uid is not None
        }
    facts = await reading.facts(
        FactQuery(purpose=Purpose.FAMILIES, uids=uids, until=until)
    )
    owned = _owners(facts, uids)
    if not owned:
        msg = f'{reading.log.named} has no Pods of "{reference}"'
        raise NotFoundError(
            msg,
            advice="name a Pod, or what owns Pods",
            code="not_found.workload",
        )
    return facts, owned[-1]


def _owners(
    facts: Sequence[StoredFact], uids: Container[str] | None
) -> list[Workload]:
    """Return the workloads of Pods, or of Pods with these UIDs, each once."""
    workloads = Workloads(facts)
    found: dict[Workload, None] = {}
    for placement in Placements(facts):
        pod = placement.pod
        if uids is None or (pod.uid or "") in uids:
            alone = Workload("Pod", pod.namespace, pod.name, pod.uid)
            found[workloads.of(placement) or alone] = None
    return list(found)
