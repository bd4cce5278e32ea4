"""Reading: kinds that the cluster's own definitions add.

Short names and plurals of custom kinds are told by nothing but their
CustomResourceDefinition, of which the newest version is read.
"""

from collections.abc import Sequence

import msgspec
from sqlalchemy import func, select

from recorder.answers.nouns import CustomKind
from recorder.answers.queries import CustomKinds
from recorder.model.entry import Operation
from recorder.store.codes import OPERATION_CODES
from recorder.store.engine import Engine, reading
from recorder.store.read_documents import Documents
from recorder.store.tables import Query, entry, kind, object_

__all__ = ["DefinitionReader"]

PAGE = 50
"""A definition with its schemas may be a megabyte."""

KINDS = ("CustomResourceDefinition", "customresourcedefinitions")
"""The second where a tape did not say the kind."""

WITH_DOCUMENT = tuple(
    OPERATION_CODES[operation]
    for operation in (
        Operation.LISTED,
        Operation.RECOVERED,
        Operation.ADDED,
        Operation.MODIFIED,
        Operation.DELETED,
    )
)


class _Names(msgspec.Struct):
    kind: str
    plural: str
    singular: str = ""
    shortNames: list[str] = []  # noqa: N815 - the API's own name


class _Spec(msgspec.Struct):
    group: str
    names: _Names
    scope: str = "Namespaced"


class _Definition(msgspec.Struct):
    spec: _Spec


class DefinitionReader:
    """Reads the definitions of one log up to a size."""

    def __init__(self, engine: Engine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size

    async def kinds(self, _: CustomKinds) -> Sequence[CustomKind]:
        """Return the kinds that definitions define or defined, by name.

        One that is no more counts too: its objects are still asked for.
        """
        found: dict[str, CustomKind] = {}
        documents = Documents(self._log)
        newest = _newest_positions(self._log, self._size)
        async with reading(self._engine, "read definitions") as connection:
            positions = (await connection.scalars(newest)).all()
            for start in range(0, len(positions), PAGE):
                page = positions[start : start + PAGE]
                raws = await documents.at(connection, page)
                for position in page:
                    custom = _read(raws[position])
                    if custom is not None:
                        found[f"{custom.plural}.{custom.group}"] = custom
        return [found[name] for name in sorted(found)]


def _newest_positions(log: int, size: int) -> Query:
    definitions = (
        select(object_.c.object_id)
        .join_from(object_, kind, kind.c.kind_id == object_.c.kind_id)
        .where(
            object_.c.log_id == log,
            kind.c.api_group == "apiextensions.k8s.io",
            kind.c.name.in_(KINDS),
        )
    )
    newest = func.max(entry.c.position)
    return (
        select(newest)
        .where(
            entry.c.log_id == log,
            entry.c.object_id.in_(definitions),
            entry.c.operation.in_(WITH_DOCUMENT),
            entry.c.position <= size,
        )
        .group_by(entry.c.object_id)
        .order_by(newest)
    )


def _read(raw: bytes) -> CustomKind | None:
    try:
        spec = msgspec.json.decode(raw, type=_Definition).spec
    except msgspec.MsgspecError:
        # Whatever it is, it defines no name that we could look for.
        return None
    names = spec.names
    return CustomKind(
        group=spec.group,
        kind=names.kind,
        plural=names.plural,
        singular=names.singular or names.kind.lower(),
        short_names=tuple(names.shortNames),
        namespaced=spec.scope == "Namespaced",
    )
