"""Names for what the log is about: resources, objects, entries."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import msgspec

__all__ = ["EntryName", "ObjectIdentity", "Resource"]


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """A collection of the API: group, version and plural.

    Written ``version/plural`` for the core group and
    ``group/version/plural`` for the others, as on a tape.
    """

    group: str
    version: str
    plural: str
    _written: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Write it once: it is asked for several times a frame."""
        parts = (self.group, self.version, self.plural)
        written = "/".join(parts if self.group else parts[1:])
        object.__setattr__(self, "_written", written)

    def __str__(self) -> str:
        """Return the written form."""
        return self._written

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the written form.

        Raises:
            ValueError: the text has not two or three parts.
        """
        parts = text.split("/")
        if len(parts) not in {2, 3} or not all(parts):
            msg = (
                f'"{text}" is not a resource: write "version/plural", for'
                ' example "v1/pods", or "group/version/plural"'
            )
            raise ValueError(msg)
        return cls(*parts) if len(parts) == 3 else cls("", *parts)  # noqa: PLR2004

    @property
    def api_version(self) -> str:
        """``v1`` or ``group/version``, as objects carry it."""
        return f"{self.group}/{self.version}" if self.group else self.version


class ObjectIdentity(NamedTuple):
    """Which object of the cluster, as the API names it.

    ``kind`` is the resource's plural where a tape does not say the kind.
    ``uid`` is None where the document had none; then the name stands for it.
    """

    group: str
    kind: str
    namespace: str
    name: str
    uid: str | None


class EntryName(msgspec.Struct, frozen=True, order=True, gc=False):
    """The name of an entry, ``LOG/POSITION``."""

    log: int
    position: int

    def __str__(self) -> str:
        """Return the written form."""
        return f"{self.log}/{self.position}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the written form.

        Raises:
            ValueError: the text is not two numbers with a stroke between.
        """
        log, stroke, position = text.partition("/")
        if not (stroke and log.isdecimal() and position.isdecimal()):
            msg = f'"{text}" is not an entry: write LOG/POSITION, as 1/48213'
            raise ValueError(msg)
        return cls(int(log), int(position))
