"""An object of any kind: its versions, its entries, itself at any time."""

from typing import Annotated, Self

import strawberry

from api.answers import paging, versions
from api.answers.windows import window
from api.context import Info
from api.describing import described
from api.selecting import selected
from api.types.arguments import After, At, Before, First, Last, Since, Until
from api.types.entries import EntryConnection
from api.types.facts import FactConnection
from api.types.objects import ObjectAt, VersionConnection
from api.types.who import Who
from recorder.questions.diff import Difference
from recorder.questions.history import HistoryQuestion
from recorder.questions.ports import Reading
from recorder.questions.references import Reference, find_objects

__all__ = ["KubernetesObject"]

AllFields = Annotated[
    bool,
    strawberry.argument(
        description="Include insignificant changes, such as managedFields"
        " and resourceVersion."
    ),
]
End = Annotated[
    str | None,
    strawberry.argument(
        description="A time in any of the forms of DateTime, or the name of"
        " an entry, `LOG/POSITION`. Default: the newest version."
    ),
]


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
    async def named(
        cls, reading: Reading, name: str, namespace: str | None
    ) -> Self:
        """Find it in a log.

        Raises:
            NotFoundError: the log has no such object.
        """
        reference = Reference.parse(name, namespace)
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

    @strawberry.field
    async def at(self, info: Info, time: At = None) -> ObjectAt | None:
        """The object as it was at a time."""
        return await versions.shown(
            info.context, self.reading, self.reference, time
        )

    @strawberry.field
    async def versions(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        all_fields: AllFields = False,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> VersionConnection | None:
        """Every version, what changed in it, and who wrote it."""
        return await versions.page(
            info.context,
            self.reading,
            HistoryQuestion(
                object=self.reference,
                window=window(since, until),
                limit=None,
                all_fields=all_fields,
            ),
            paging.Page.of(first, after, last, before),
        )

    @strawberry.field
    async def who(self, info: Info, time: At = None) -> Who | None:
        """Who changed each field last, as of a time."""
        return await versions.authors(
            info.context, self.reading, self.reference, time
        )

    @strawberry.field
    async def diff(
        self,
        info: Info,
        from_: Annotated[
            str,
            strawberry.argument(
                name="from",
                description="A time in any of the forms of DateTime, or the"
                " name of an entry.",
            ),
        ],
        to: End = None,
        all_fields: AllFields = False,
    ) -> Difference | None:
        """What changed between two times, or two versions."""
        return await versions.difference(
            info.context,
            self.reading,
            self.reference,
            ends=(from_, to),
            all_fields=all_fields,
        )

    @strawberry.field
    async def facts(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> FactConnection | None:
        """Facts about the object, including Events."""
        return await paging.facts(
            info.context,
            self.reading,
            paging.Filter(window=window(since, until), object=self.reference),
            paging.Page.of(first, after, last, before),
            selected(info),
        )

    @strawberry.field
    async def entries(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> EntryConnection | None:
        """Versions of the object and Events about it, in log order."""
        return await paging.entries(
            info.context,
            self.reading,
            paging.Filter(window=window(since, until), object=self.reference),
            paging.Page.of(first, after, last, before),
            selected(info),
        )
