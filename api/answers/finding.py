"""Finding nodes, objects and entries by parts of their names."""

import strawberry

from api.answers.paging import page_size
from api.context import RequestContext
from api.types.search import SearchAnswer, SearchHit
from api.types.words import SearchKind
from recorder.answers.naming import named
from recorder.answers.ports import Reading
from recorder.answers.queries import NodesLike
from recorder.answers.search import ask_search
from recorder.coverage.coverage import covered
from recorder.model.entry import Entry
from recorder.model.reference import ObjectIdentity
from recorder.model.window import Window

__all__ = ["node_names", "search"]


async def node_names(
    reading: Reading, prefix: str, first: int | None
) -> list[str]:
    """Return names of nodes, in order."""
    begun = NodesLike(text=prefix, limit=page_size(first), anywhere=False)
    return list(await reading.names(begun))


async def search(
    asked: RequestContext, reading: Reading, text: str, first: int | None
) -> SearchAnswer:
    """Find nodes, objects and entries by their names."""
    limit = page_size(first)
    found = await ask_search(reading, text, limit=limit + 1)
    hits = [
        *(_entry_hit(line) for line in (found.entry,) if line),
        *(_node_hit(name) for name in found.nodes),
        *(_object_hit(identity) for identity in found.objects),
    ]
    coverage = await covered(reading, Window(), now=asked.now)
    return SearchAnswer(
        hits=hits[:limit],
        more=len(hits) > limit,
        coverage=coverage,
    )


def _entry_hit(found: Entry) -> SearchHit:
    return SearchHit(
        kind=SearchKind.ENTRY,
        title=str(found.entry),
        node=found.node,
        object=found.identity,
        entry=strawberry.ID(str(found.entry)),
    )


def _node_hit(name: str) -> SearchHit:
    return SearchHit(
        kind=SearchKind.NODE, title=name, node=name, object=None, entry=None
    )


def _object_hit(identity: ObjectIdentity) -> SearchHit:
    return SearchHit(
        kind=SearchKind.OBJECT,
        title=named(identity.kind.lower(), identity.namespace, identity.name),
        node=None,
        object=identity,
        entry=None,
    )
