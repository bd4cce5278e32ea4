"""Reading: kinds that the cluster's own definitions add.

Short names and plurals of custom kinds are told by nothing but their
CustomResourceDefinition, of which the newest version is read.
"""

from collections.abc import Sequence

import msgspec

from recorder.answers.nouns import CustomKind
from recorder.answers.queries import CustomKinds
from recorder.store.engine import Engine, reading
from recorder.store.read_documents import Documents
from recorder.store.statement import question

__all__ = ["DefinitionReader"]

PAGE = 50
"""A definition with its schemas may be a megabyte."""

# By the plural where a tape did not say the kind.
NEWEST = question("""
    select max(e.position) from recorder.entry e
    where e.log_id = :log and e.position <= :size
      and e.operation in (#listed, #recovered, #added, #modified, #deleted)
      and e.object_id in (
        select o.object_id from recorder.object o
        join recorder.kind k on k.kind_id = o.kind_id
        where o.log_id = :log and k.api_group = 'apiextensions.k8s.io'
          and k.name in ('CustomResourceDefinition',
            'customresourcedefinitions'))
    group by e.object_id order by max(e.position)
    """)


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
        async with reading(self._engine, "read definitions") as connection:
            rows = await connection.fetch(
                NEWEST, log=self._log, size=self._size
            )
            positions = [position for (position,) in rows]
            for start in range(0, len(positions), PAGE):
                page = positions[start : start + PAGE]
                raws = await documents.at(connection, page)
                for position in page:
                    custom = _read(raws[position])
                    if custom is not None:
                        found[f"{custom.plural}.{custom.group}"] = custom
        return [found[name] for name in sorted(found)]


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
