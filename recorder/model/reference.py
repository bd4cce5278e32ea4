"""Names for what the log is about: resources, objects, entries."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import msgspec

CLUSTER_NAME_MAX = 253
"""Characters of the name of a cluster, as in the registry."""

DIGITS_MAX = 18
"""Digits of the number of a log: more than any log has, and still an int8."""


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
        """Write it once: it is read several times a frame."""
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
    """An object of the cluster, as the API names it."""

    group: str
    """API group; empty for the core group."""

    # The plural of its resource where a tape does not have the kind.
    kind: str
    namespace: str
    """Empty for cluster-scoped objects."""

    name: str
    uid: str | None
    """UID; null if the document had none."""

    @property
    def key(self) -> str:
        """Its UID, else its namespace and name."""
        return self.uid or f"{self.namespace}/{self.name}"


class LogNumber(int):
    """The number of a log in one of several databases, with its cluster.

    Databases count their logs apart, so where several are served a log is
    written ``CLUSTER:NUMBER``, and no two are equal. To a database it is its
    number, as it is to `int`.
    """

    cluster: str
    """The name that the registry has of it."""

    def __new__(cls, number: int, cluster: str) -> Self:
        """Name the log of a cluster of the registry."""
        made = super().__new__(cls, number)
        made.cluster = cluster
        return made

    def __str__(self) -> str:
        """Return the written form."""
        return f"{self.cluster}:{int(self)}"

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same log."""
        return (
            isinstance(other, LogNumber)
            and self.cluster == other.cluster
            and int(self) == int(other)
        )

    def __ne__(self, other: object) -> bool:
        """Return whether it is another log."""
        return not self == other

    def __hash__(self) -> int:
        """Return the same for equal ones."""
        return hash((self.cluster, int(self)))

    @staticmethod
    def parse(text: str) -> int:
        """Read the written form of a log: a number, or with its cluster.

        Raises:
            ValueError: it is neither.
        """
        cluster, colon, number = text.rpartition(":")
        if (
            not (number.isascii() and number.isdecimal())
            or len(number) > DIGITS_MAX
            or bool(colon) != (0 < len(cluster) <= CLUSTER_NAME_MAX)
        ):
            msg = f'"{text[:60]}" is not a log: use its number, for example 1'
            raise ValueError(msg)
        return LogNumber(int(number), cluster) if colon else int(number)


def written_log(number: int) -> int | str:
    """Return the number of a log as JSON has it."""
    return str(number) if isinstance(number, LogNumber) else number


class EntryName(msgspec.Struct, frozen=True, order=True, gc=False):
    """The name of an entry, ``LOG/POSITION``."""

    log: int
    """A `LogNumber` where several databases are served."""

    position: int

    def __str__(self) -> str:
        """Return the written form."""
        return f"{self.log}/{self.position}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the written form.

        Raises:
            ValueError: the text is not two numbers with a stroke between,
                the first perhaps behind the cluster of the log.
        """
        log, _, position = text.rpartition("/")
        try:
            if position.isdecimal():
                return cls(LogNumber.parse(log), int(position))
        except ValueError:
            pass
        msg = f'"{text}" is not an entry: write LOG/POSITION, as 1/48213'
        raise ValueError(msg)
