"""Finding the objects that people name in the log.

A name finds all its incarnations, one after the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recorder.answers.kinds import BUILT_IN, Kind, find_kinds, word_for
from recorder.answers.naming import (
    ObjectNameError,
    Reference,
    claim_about,
    did_you_mean,
    named,
)
from recorder.answers.nouns import Incarnation
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    CustomKinds,
    Incarnations,
    Kinds,
    NodeNames,
    ObjectNames,
)
from recorder.model.errors import ConfigError, NotFoundError
from recorder.model.place import PlaceKind
from recorder.model.reference import ObjectIdentity

PLACE_WORDS = frozenset(PlaceKind) - {PlaceKind.NODE}
EVENT_WORDS = frozenset({"event", "events", "ev"})


@dataclass(frozen=True, slots=True)
class KnownObject:
    """An object of the log, with all its incarnations.

    An incarnation has a number for each kind that it is stored under, which
    is the plural if an audit record names no kind.
    """

    kind: Kind
    incarnations: Sequence[Incarnation]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the incarnations."""
        return tuple(one.number for one in self.incarnations)

    @property
    def uids(self) -> Sequence[str]:
        """The UIDs of the incarnations, oldest first, each once."""
        uids = (one.identity.uid for one in self.incarnations)
        return list(dict.fromkeys(uid for uid in uids if uid is not None))


async def find_node(reading: Reading, *names: str) -> None:
    """Check that the log has entries about each node.

    Raises:
        NotFoundError: it has none about one of them.
    """
    known = await reading.names(NodeNames(names))
    for name in names:
        if name not in known:
            hint = did_you_mean(name, await reading.names(NodeNames()))
            msg = f'{reading.log.named} has no node "{name}"{hint}'
            advice = "" if hint else "`recorder get nodes` lists them"
            raise NotFoundError(msg, advice=advice, node=name)


async def find_objects(reading: Reading, reference: Reference) -> KnownObject:
    """Return the object with a name.

    A place without objects of its own, such as ``switch/leaf-7``, is what
    was claimed of it.

    Raises:
        NotFoundError: the log has no such kind, or no such object.
        ConfigError: several objects have the name.
    """
    try:
        kinds = await kinds_called(reading, reference.word)
    except NotFoundError:
        if reference.word not in PLACE_WORDS or reference.namespace:
            raise
        return await find_objects(reading, claim_about(str(reference)))
    found: list[KnownObject] = []
    for kind in kinds:
        namespace = reference.namespace
        if kind.namespaced is False:
            namespace = ""
        incarnations = await reading.names(
            Incarnations(
                kinds=kind.filed, namespace=namespace, name=reference.name
            )
        )
        places = {one.identity.namespace for one in incarnations}
        for place in sorted(places):
            own = [t for t in incarnations if t.identity.namespace == place]
            take(found, KnownObject(_known(kind, own), own))
    if not found:
        raise await _no_object(reading, reference, kinds)
    # A request that was audited may name an object that never existed.
    found = [one for one in found if one.uids] or found
    if len(found) > 1:
        raise _several(reference, found)
    return found[0]


def object_named(identity: ObjectIdentity) -> str:
    """Return the name of an object in the form that finds it."""
    word = word_for(identity.group, identity.kind)
    return named(word, identity.namespace, identity.name)


def _known(kind: Kind, incarnations: Sequence[Incarnation]) -> Kind:
    """Return the kind with its real name, if the plural was used for it."""
    if kind.kind != kind.plural:
        return kind
    names = [one.identity.kind for one in incarnations]
    return replace(kind, kind=next(filter(_is_kind, names), kind.kind))


def _is_kind(name: str) -> bool:
    return name != name.lower()


def take(found: list[KnownObject], more: KnownObject) -> None:
    """Add an object unless it was found under another kind.

    What refers to an object may leave out the group of its kind.
    """
    numbers, uids = set(more.numbers), set(more.uids)
    for place, known in enumerate(found):
        if numbers.intersection(known.numbers):
            return
        groups = (known.kind.group, more.kind.group)
        if uids.intersection(known.uids) and not all(groups):
            kind = known.kind if known.kind.group else more.kind
            both = *known.incarnations, *more.incarnations
            found[place] = KnownObject(kind, both)
            return
    found.append(more)


def no_versions(reading: Reading, reference: Reference) -> NotFoundError:
    """Return the error for an object that is only mentioned."""
    return NotFoundError(
        f'{reading.log.named} has no version of "{reference}", only entries'
        " that mention it",
        advice="see `recorder log --object`",
    )


async def find_again(
    reading: Reading, found: KnownObject | None
) -> KnownObject | None:
    """Return an object with the incarnations that it has now."""
    if found is None:
        return None
    identity = found.incarnations[0].identity
    incarnations = await reading.names(
        Incarnations(
            kinds=found.kind.filed,
            namespace=identity.namespace,
            name=identity.name,
        )
    )
    return KnownObject(found.kind, incarnations)


async def kinds_called(reading: Reading, word: str) -> Sequence[Kind]:
    """Return the kinds that a word names.

    Raises:
        NotFoundError: the log has no such kind.
        ConfigError: it is that of Events.
    """
    if word.lower() in EVENT_WORDS:
        msg = (
            "an Event is stored under the object that it is about, not under"
            " its own name: query the entries of that object"
        )
        raise ObjectNameError(msg, advice="see `recorder log --object`")
    filed = await reading.names(Kinds())
    kinds = find_kinds(word, custom=(), filed=filed)
    if all(kind.namespaced is None for kind in kinds):  # none is built in
        custom = await reading.names(CustomKinds())
        kinds = find_kinds(word, custom=custom, filed=filed)
        if not kinds:
            names = {name for kind in BUILT_IN for name in kind.names}
            names.update(kind.lower() for _, kind in filed)
            names.update(kind.plural for kind in custom)
            msg = (
                f'{reading.log.named} has no kind "{word}"'
                f"{did_you_mean(word.lower(), sorted(names))}"
            )
            raise NotFoundError(msg)
    return kinds


async def _no_object(
    reading: Reading, reference: Reference, kinds: Sequence[Kind]
) -> NotFoundError:
    known: list[str] = []
    for kind in kinds:
        known.extend(
            named(reference.word, *place)
            for place in await reading.names(ObjectNames(kind.filed))
        )
    hint = did_you_mean(str(reference), known)
    msg = f'{reading.log.named} has no "{reference}"{hint}'
    return NotFoundError(msg, advice="" if hint else searched(reference.name))


def searched(name: str) -> str:
    """Return how to find what nothing has the name of."""
    return f"`recorder search {name}` finds a part of a name"


def _several(
    reference: Reference, found: Sequence[KnownObject]
) -> ConfigError:
    forms = [
        named(
            _exactly(one.kind),
            one.incarnations[0].identity.namespace,
            reference.name,
        )
        for one in found
    ]
    msg = f'"{reference}" names several objects: {", ".join(forms)}'
    return ObjectNameError(msg)


def _exactly(kind: Kind) -> str:
    """Return the unambiguous name of a kind, with group or version."""
    return str(kind) if kind.group else f"{kind.plural}.v1"
