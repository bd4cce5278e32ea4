"""The columns of an entry, of its rows in the database and in the archive.

`recorder/store` takes from here what it copies, selects and reads,
`recorder/archive` the schema of its files, what it writes and what it reads.
What is hashed of an entry does not follow from this table: its order is that
of `recorder/integrity/leaves.py`.

Columns may be added, with a migration; files that were archived before lack
the new one, which reads as null. Columns are never renamed, their types never
change, and those of the archive keep their order.
"""

from enum import Enum, auto
from typing import Final, NamedTuple


class Holds(Enum):
    """How a column holds the value of its field."""

    VALUE = auto()
    """As it is."""

    TIME = auto()

    CODE = auto()
    """A number that the program has for the word; the archive has the word."""

    NUMBER = auto()
    """The number of a name, in a table of names."""

    PLACE = auto()
    """The log or the position of the name of the entry."""

    PART = auto()
    """One part of the identity of the object, in the order of its parts."""

    VERSION = auto()
    """Of a resource version, the number or the text that is no number."""

    DOCUMENT = auto()
    """The document, or how it is compressed."""


class Column(NamedTuple):
    """One column of an entry."""

    name: str
    sql: str | None
    """Its type in PostgreSQL; None if only the archive has it."""

    arrow: str | None
    """Its type in the archive; None if only the database has it."""

    field: str
    """The field of `Entry`."""

    holds: Holds = Holds.VALUE
    names: str = ""
    """The table of names that has the number: node, object, resource, word."""

    required: bool = False
    """Whether it is never null."""


def _time(name: str, *, required: bool = True) -> Column:
    time = Holds.TIME
    return Column(name, "timestamptz", "moment", name, time, "", required)


def _code(name: str) -> Column:
    return Column(name, "int2", "string", name, Holds.CODE, required=True)


def _number(field: str, sql: str, arrow: str, names: str) -> Column:
    name = f"{field}_id" if field != "identity" else "object_id"
    return Column(name, sql, arrow, field, Holds.NUMBER, names)


def _part(name: str) -> Column:
    return Column(name, None, "string", "identity", Holds.PART)


def _document(name: str, sql: str, *, required: bool = True) -> Column:
    return Column(name, sql, None, "raw", Holds.DOCUMENT, "", required)


COLUMNS: Final = (
    Column("position", "int8", "int64", "entry", Holds.PLACE, required=True),
    _time("recorded_at"),
    _time("observed_at"),
    _time("occurred_at", required=False),
    Column("epoch", "int2", "int32", "epoch", required=True),
    _code("operation"),
    _code("source"),
    Column("resource", None, "string", "resource"),
    _part("api_group"),
    _part("kind"),
    _part("namespace"),
    _part("name"),
    _part("uid"),
    Column(
        "resource_version", "text", "string", "resource_version", Holds.VERSION
    ),
    Column("node", None, "string", "node"),
    Column("reason", None, "string", "reason"),
    Column("actor", None, "string", "actor"),
    _number("identity", "int8", "int64", "object"),
    _number("node", "int4", "int32", "node"),
    _number("reason", "int4", "int32", "word"),
    _number("actor", "int4", "int32", "word"),
    _number("resource", "int2", "int32", "resource"),
    Column("raw", None, "binary", "raw", Holds.DOCUMENT, required=True),
    Column("version", "int8", None, "resource_version", Holds.VERSION),
    Column("log_id", "int4", None, "entry", Holds.PLACE, required=True),
    _document("base_distance", "int4", required=False),
    _document("encoding", "int2"),
    _document("payload", "bytea"),
)
"""In the order of the archive's files; the rows of the database come by
name. A name with a number has a row for each."""

STORED: Final = tuple(one for one in COLUMNS if one.sql is not None)
ARCHIVED: Final = tuple(one for one in COLUMNS if one.arrow is not None)
OBJECT: Final = tuple(one.name for one in COLUMNS if one.holds is Holds.PART)


def numbers_of(names: str) -> tuple[str, ...]:
    """Return the columns that hold numbers of a table of names."""
    return tuple(one.name for one in STORED if one.names == names)
