"""Objects as people name them, found in the log.

``node/gpu-002``, ``pod/train/llm-0`` or ``-n train pod/llm-0``. One name may
stand for several incarnations, one after the other: they are all found.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches

from recorder.answers.kinds import BUILT_IN, Kind, find_kinds
from recorder.answers.nouns import Incarnation
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    CustomKinds,
    Incarnations,
    Kinds,
    NodeNames,
    ObjectNames,
)
from recorder.errors import ConfigError, NotFoundError

__all__ = [
    "KnownObject",
    "Reference",
    "find_again",
    "find_node",
    "did_you_mean",
    "find_objects",
    "is_node",
    "named",
    "no_versions",
    "node_name",
]

PARTS_CLUSTER = 2
PARTS_NAMESPACED = 3
NEAR_MAX = 3
MUCH_NEARER = 0.1
NODE_WORDS = frozenset({"node", "nodes", "no"})
EVENT_WORDS = frozenset({"event", "events", "ev"})


class ObjectNameError(ConfigError):
    """An object is not named as it should be."""

    code = "question.object"


class NodeNameError(ConfigError):
    """Something else than a node was named."""

    code = "question.node"


@dataclass(frozen=True, slots=True)
class Reference:
    """An object as it was named."""

    word: str
    """The kind, in whichever form."""

    namespace: str | None
    name: str

    @classmethod
    def parse(cls, text: str, namespace: str | None = None) -> "Reference":
        """Read ``kind/name`` or ``kind/namespace/name``.

        Raises:
            ConfigError: it has another form, or two namespaces.
        """
        parts = text.split("/")
        if not all(parts) or len(parts) not in {
            PARTS_CLUSTER,
            PARTS_NAMESPACED,
        }:
            msg = (
                f'"{text}" does not name an object: write kind/name or'
                " kind/namespace/name, as in node/gpu-002 or pod/train/llm-0"
            )
            raise ObjectNameError(msg)
        if len(parts) == PARTS_CLUSTER:
            return cls(parts[0], namespace, parts[1])
        if namespace is not None and namespace != parts[1]:
            msg = f'"{text}" is not in namespace "{namespace}"'
            raise ObjectNameError(msg)
        return cls(parts[0], parts[1], parts[2])

    def __str__(self) -> str:
        """Return the written form."""
        middle = f"{self.namespace}/" if self.namespace else ""
        return f"{self.word}/{middle}{self.name}"


@dataclass(frozen=True, slots=True)
class KnownObject:
    """An object of the log, in all its incarnations.

    One of them may have several numbers, one by each kind that it is filed
    under: an audit record may name no kind.
    """

    kind: Kind
    incarnations: Sequence[Incarnation]

    @property
    def numbers(self) -> tuple[int, ...]:
        """How the log numbers the incarnations."""
        return tuple(one.number for one in self.incarnations)

    @property
    def uids(self) -> Sequence[str]:
        """The incarnations, oldest first, each once."""
        uids = (one.identity.uid for one in self.incarnations)
        return list(dict.fromkeys(uid for uid in uids if uid is not None))


def named(kind: Kind | str, namespace: str, name: str) -> str:
    """Write an object so that it can be asked for."""
    word = kind if isinstance(kind, str) else kind.kind.lower()
    return "/".join(part for part in (word, namespace, name) if part)


def node_name(text: str) -> str:
    """Read ``node/NAME``, or the name alone.

    Raises:
        ConfigError: another kind is named.
    """
    if "/" not in text:
        return text
    named = Reference.parse(text)
    if named.word.lower() not in NODE_WORDS or named.namespace:
        msg = f'"{text}" is not a node: write node/NAME'
        raise NodeNameError(msg)
    return named.name


def is_node(text: str) -> bool:
    """Return whether ``node/NAME`` is written, or a name alone."""
    return text.partition("/")[0].lower() in NODE_WORDS or "/" not in text


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that names what is near, or nothing."""
    near = get_close_matches(name, known, n=NEAR_MAX, cutoff=0.6)
    if not near:
        return ""
    # Of many that are numbered, what is much nearer than the rest is meant.
    ratios = [SequenceMatcher(None, one, name).ratio() for one in near]
    *first, last = [
        f'"{one}"'
        for one, ratio in zip(near, ratios, strict=True)
        if ratio > ratios[0] - MUCH_NEARER
    ]
    named = f"{', '.join(first)} or {last}" if first else last
    return f"; did you mean {named}?"


async def find_node(reading: Reading, *names: str) -> None:
    """See that the log has entries about each node.

    Raises:
        NotFoundError: of one it has none.
    """
    known = await reading.names(NodeNames(names))
    for name in names:
        if name not in known:
            hint = did_you_mean(name, await reading.names(NodeNames()))
            msg = f'log {reading.log.id} has no node "{name}"{hint}'
            advice = "" if hint else "`recorder get nodes` lists them"
            raise NotFoundError(msg, advice=advice)


async def find_objects(reading: Reading, reference: Reference) -> KnownObject:
    """Find an object by its name.

    Raises:
        NotFoundError: the log has no such kind, or no such object.
        ConfigError: the name is that of several objects.
    """
    kinds = await _kinds(reading, reference)
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
            _take(found, KnownObject(_known(kind, own), own))
    if not found:
        raise await _no_object(reading, reference, kinds)
    if len(found) > 1:
        raise _several(reference, found)
    return found[0]


def _known(kind: Kind, incarnations: Sequence[Incarnation]) -> Kind:
    """Return the kind of objects that were asked for by their plural."""
    if kind.kind != kind.plural:
        return kind
    names = [one.identity.kind for one in incarnations]
    return replace(kind, kind=next(filter(_is_kind, names), kind.kind))


def _is_kind(name: str) -> bool:
    return name != name.lower()


def _take(found: list[KnownObject], more: KnownObject) -> None:
    """Add what was found, unless it was found by another kind."""
    numbers = set(more.numbers)
    if not any(numbers.intersection(known.numbers) for known in found):
        found.append(more)


def no_versions(reading: Reading, reference: Reference) -> NotFoundError:
    """Return the error that an object is only mentioned."""
    return NotFoundError(
        f'log {reading.log.id} has no version of "{reference}", only entries'
        " that mention it",
        advice="see `recorder log --object`",
    )


async def find_again(
    reading: Reading, found: KnownObject | None
) -> KnownObject | None:
    """Find the incarnations that an object has by now."""
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


async def _kinds(reading: Reading, reference: Reference) -> Sequence[Kind]:
    word = reference.word
    if word.lower() in EVENT_WORDS:
        msg = (
            "an Event is stored under the object that it is about, not under"
            " its own name: query the entries of that object"
        )
        raise ObjectNameError(msg, advice="see `recorder log --object`")
    filed = await reading.names(Kinds())
    kinds = find_kinds(word, custom=(), filed=())
    if not kinds:
        custom = await reading.names(CustomKinds())
        kinds = find_kinds(word, custom=custom, filed=filed)
        if not kinds:
            names = {name for kind in BUILT_IN for name in kind.names}
            names.update(kind.lower() for _, kind in filed)
            names.update(kind.plural for kind in custom)
            msg = (
                f'log {reading.log.id} has no kind "{word}"'
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
    return NotFoundError(f'log {reading.log.id} has no "{reference}"{hint}')


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
    """Write a kind as no other is: with its group, or its version."""
    return str(kind) if kind.group else f"{kind.plural}.v1"
