"""Finding things by their names: entries, workloads, whatever is searched."""

import strawberry

from api.answers.drawing import placement_of
from api.answers.paging import page_size
from api.context import RequestContext
from api.types.search import SearchAnswer, SearchHit
from api.types.words import SearchKind
from api.types.workloads import WorkloadStory
from recorder.answers.entry import Opened, ask_opened
from recorder.answers.log_questions import entry_name
from recorder.answers.naming import Reference, named
from recorder.answers.nouns import Line
from recorder.answers.ports import Reading
from recorder.answers.queries import NodesLike
from recorder.answers.search import ask_search
from recorder.answers.workload import ask_workload
from recorder.coverage.coverage import covered
from recorder.model.reference import ObjectIdentity
from recorder.model.window import Window

__all__ = [
    "entry",
    "node_names",
    "search",
    "workload",
]


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


def _entry_hit(found: Line) -> SearchHit:
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


async def entry(
    asked: RequestContext, name: str, *, all_fields: bool
) -> Opened:
    """Open one entry.

    Raises:
        NotFoundError: there is none of this name.
        ConfigError: it is no name.
    """
    parsed = entry_name(name)
    reading = await asked.reading(None, str(parsed.log))
    return await ask_opened(
        reading, parsed, all_fields=all_fields, now=asked.now
    )


async def workload(
    asked: RequestContext,
    reading: Reading,
    name: tuple[str, str | None],
    span: Window,
) -> WorkloadStory:
    """Describe one workload.

    Raises:
        NotFoundError: the log has no such object, or it had no Pods.
    """
    found = await ask_workload(
        reading, Reference.parse(*name), span, asked.knowledge, now=asked.now
    )
    return WorkloadStory(
        workload=found.workload,
        window=span,
        is_gang=found.workload.is_gang,
        gpus=found.gpus,
        nodes=found.nodes,
        placements=[
            placement_of(placement, found.workload)
            for placement in found.placements
        ],
        ran_in_full_at=found.ran_in_full_at,
        failed_at=found.failed_at,
        hits=[*found.hits],
        coverage=found.coverage,
    )
