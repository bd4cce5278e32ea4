"""An object of any kind: versions, entries, and its state at any time."""

from collections.abc import Mapping
from typing import Any, Self

import strawberry

from api.resolvers.answers import entries
from api.resolvers.answers.paging import Page
from api.resolvers.asking import Asked, asks
from api.resolvers.types.describing import described
from api.resolvers.types.entries import EntryConnection
from api.resolvers.types.facts import FactConnection
from api.resolvers.types.objects import VersionConnection
from api.resolvers.types.who import Who
from recorder.answers.diff import Difference
from recorder.answers.log_questions import (
    DifferenceQuestion,
    EntryQuestion,
    HistoryQuestion,
    ObjectQuestion,
)
from recorder.answers.naming import Reference
from recorder.answers.ports import Reading
from recorder.answers.references import find_objects
from recorder.answers.show import Shown

NAMES = ("object", "namespace")
FILTERS = (
    *NAMES,
    *("node", "source", "operations", "kinds", "reason", "actor", "code"),
)


def _object(parent: "KubernetesObject") -> Mapping[str, Any]:
    return {"object": parent.reference}


@described
class KubernetesObject:
    """An object, by name, with all its incarnations.

    A field that could not be answered is null; `errors` says why.
    """

    reading: strawberry.Private[Reading]
    reference: strawberry.Private[Reference]

    kind: str

    namespace: str | None

    name: str

    uids: list[str]
    """Its incarnations, oldest first."""

    @classmethod
    async def named(cls, reading: Reading, reference: Reference) -> Self:
        """Find an object in a log.

        Raises:
            NotFoundError: the log has no such object.
        """
        found = await find_objects(reading, reference)
        identity = found.incarnations[0].identity
        return cls(
            reading=reading,
            reference=reference,
            kind=found.kind.kind,
            namespace=identity.namespace or None,
            name=identity.name,
            uids=list(found.uids),
        )

    @asks("object", of=_object, without=NAMES)
    @staticmethod
    async def at(asked: Asked[ObjectQuestion]) -> Shown | None:
        """The object as it was at a time."""
        return await asked.answer(Shown)

    @asks("history", of=_object, without=NAMES)
    @staticmethod
    async def versions(
        asked: Asked[HistoryQuestion],
        *,
        page: Page,
    ) -> VersionConnection | None:
        """Every version, what changed in it, and who wrote it."""
        return await entries.versions(
            asked.context,
            await asked.reading(),
            asked.question,
            page,
        )

    @asks("who", of=_object, without=NAMES)
    @staticmethod
    async def who(asked: Asked[ObjectQuestion]) -> Who | None:
        """Who changed each field last, as of a time."""
        return await asked.answer(Who)

    @asks("diff", of=_object, without=NAMES)
    @staticmethod
    async def diff(asked: Asked[DifferenceQuestion]) -> Difference | None:
        """What changed between two times, or two versions."""
        return await asked.answer(Difference)

    @asks("entries", of=_object, without=FILTERS)
    @staticmethod
    async def facts(
        asked: Asked[EntryQuestion],
        *,
        page: Page,
    ) -> FactConnection | None:
        """Facts about the object, including Events."""
        return await asked.page(entries.facts, page)

    @asks("entries", of=_object, without=FILTERS)
    @staticmethod
    async def entries(
        asked: Asked[EntryQuestion],
        *,
        page: Page,
    ) -> EntryConnection | None:
        """Versions of the object and Events about it, in log order."""
        return await asked.page(entries.entries, page)
