"""Names that begin as a person has begun to type them.

What is offered is what the log holds, also what is long gone: that is what
people ask a log about.
"""

from collections.abc import Iterable, Sequence

from recorder.report.kinds import BUILT_IN, Kind, find_kinds
from recorder.report.ports import Reading
from recorder.report.references import named

__all__ = ["nodes_like", "objects_like"]

OFFERED_MAX = 200
"""More than anybody looks through."""


async def nodes_like(reading: Reading, begun: str) -> Sequence[str]:
    """Return the nodes as ``node/NAME`` that go on as begun, in order."""
    names = await reading.node_names()
    return _going_on(begun, (named("node", "", name) for name in names))


async def objects_like(
    reading: Reading, begun: str, namespace: str | None
) -> Sequence[str]:
    """Return the objects that go on as begun, in order.

    Args:
        reading: of the log.
        begun: ``po``, ``pod/train/ll``; before its slash any word that a
            kind goes by will do, and is kept.
        namespace: if it is given already, objects are named without it, and
            those of others are left out.
    """
    word, slash, _ = begun.partition("/")
    found: list[str] = []
    for kind in await _kinds(reading, word, is_whole=bool(slash)):
        for place, name in await reading.thing_names(kind.filed):
            if namespace in {None, place}:
                shown = place if namespace is None else ""
                found.append(named(word if slash else kind, shown, name))
    return _going_on(begun, found)


async def _kinds(
    reading: Reading, word: str, *, is_whole: bool
) -> Sequence[Kind]:
    filed = await reading.kinds()
    if is_whole:
        custom = await reading.custom_kinds()
        return find_kinds(word, custom=custom, filed=filed)
    return [
        kind
        for kind in BUILT_IN
        if kind.kind.lower().startswith(word.lower())
        and any(one in filed for one in kind.filed)
    ]


def _going_on(begun: str, names: Iterable[str]) -> Sequence[str]:
    return sorted({n for n in names if n.startswith(begun)})[:OFFERED_MAX]
