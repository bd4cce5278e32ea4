"""The tables of the log, as the read side sees them.

The schema itself is made by the migrations; these definitions name its
columns so that queries are checked before they run. Payloads are bytes here:
`encoding` says how to read them.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    Select,
    SmallInteger,
    Table,
    Text,
    Uuid,
    any_,
    literal,
)
from sqlalchemy.dialects.postgresql import ARRAY

__all__ = [
    "SCHEMA",
    "Query",
    "QueryRow",
    "among",
    "batch",
    "checkpoint",
    "derivation",
    "dictionary",
    "entry",
    "fact",
    "kind",
    "later_facts",
    "log",
    "log_head",
    "metadata",
    "node",
    "object_",
    "object_head",
    "partition",
    "resource",
    "resume_point",
    "seal",
    "word",
]

SCHEMA = "recorder"

Query: TypeAlias = Select[*tuple[Any, ...]]
QueryRow: TypeAlias = Row[*tuple[Any, ...]]
"""Types of columns are looked after by the tests, row by row."""

metadata = MetaData(schema=SCHEMA)

MOMENT = DateTime(timezone=True)

dictionary = Table(
    "dictionary",
    metadata,
    Column("dictionary_id", SmallInteger, primary_key=True),
    Column("sha256", LargeBinary, nullable=False),
    Column("bytes", LargeBinary, nullable=False),
    Column("created_at", MOMENT, nullable=False),
)

log = Table(
    "log",
    metadata,
    Column("log_id", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("cluster_name", Text, nullable=False),
    Column("cluster_uid", Text, nullable=False),
    Column("kubernetes", Text, nullable=False),
    Column("tape_uid", Text),
    Column("redaction_key_id", Text),
    Column("created_at", MOMENT, nullable=False),
    Column("uid", Uuid, nullable=False),
)

log_head = Table(
    "log_head",
    metadata,
    Column("log_id", Integer, primary_key=True),
    Column("term", BigInteger, nullable=False),
    Column("holder", Text),
    Column("expires_at", MOMENT, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("batches", BigInteger, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("recorded_at", MOMENT, nullable=False),
    Column("peaks", LargeBinary),
    Column("sealed_until", MOMENT, nullable=False),
    Column("pruned_batches", BigInteger, nullable=False),
    Column("pruned_positions", BigInteger, nullable=False),
    Column("forgotten", BigInteger, nullable=False),
)

resource = Table(
    "resource",
    metadata,
    Column("resource_id", SmallInteger, primary_key=True),
    Column("name", Text, nullable=False),
)

kind = Table(
    "kind",
    metadata,
    Column("kind_id", Integer, primary_key=True),
    Column("api_group", Text, nullable=False),
    Column("name", Text, nullable=False),
)

node = Table(
    "node",
    metadata,
    Column("node_id", Integer, primary_key=True),
    Column("log_id", Integer, nullable=False),
    Column("name", Text, nullable=False),
)

word = Table(
    "word",
    metadata,
    Column("word_id", Integer, primary_key=True),
    Column("text", Text, nullable=False),
)

object_ = Table(
    "object",
    metadata,
    Column("object_id", BigInteger, primary_key=True),
    Column("log_id", Integer, nullable=False),
    Column("kind_id", Integer, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("uid", Text),
)

batch = Table(
    "batch",
    metadata,
    Column("log_id", Integer, primary_key=True),
    Column("batch", BigInteger, primary_key=True),
    Column("first_position", BigInteger, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("term", BigInteger, nullable=False),
    Column("recorded_at", MOMENT, nullable=False),
    Column("observed_min", MOMENT, nullable=False),
    Column("observed_max", MOMENT, nullable=False),
    Column("root", LargeBinary),
    Column("tree", LargeBinary),
)

seal = Table(
    "seal",
    metadata,
    Column("log_id", Integer, primary_key=True),
    Column("batch", BigInteger, primary_key=True),
    Column("root", LargeBinary, nullable=False),
    Column("tree", LargeBinary, nullable=False),
    Column("sealed_at", MOMENT, nullable=False),
)

checkpoint = Table(
    "checkpoint",
    metadata,
    Column("log_id", Integer, primary_key=True),
    Column("batches", BigInteger, primary_key=True),
    Column("note", Text, primary_key=True),
    Column("made_at", MOMENT, nullable=False),
    Column("places", ARRAY(Text)),
    Column("peaks", LargeBinary),
)

entry = Table(
    "entry",
    metadata,
    Column("recorded_at", MOMENT, nullable=False),
    Column("observed_at", MOMENT, nullable=False),
    Column("occurred_at", MOMENT),
    Column("position", BigInteger, nullable=False),
    Column("object_id", BigInteger),
    Column("version", BigInteger),
    Column("log_id", Integer, nullable=False),
    Column("node_id", Integer),
    Column("reason_id", Integer),
    Column("actor_id", Integer),
    Column("base_distance", Integer),
    Column("epoch", SmallInteger, nullable=False),
    Column("resource_id", SmallInteger),
    Column("operation", SmallInteger, nullable=False),
    Column("source", SmallInteger, nullable=False),
    Column("encoding", SmallInteger, nullable=False),
    Column("resource_version", Text),
    Column("payload", LargeBinary, nullable=False),
)

derivation = Table(
    "derivation",
    metadata,
    Column("derivation_id", Integer, primary_key=True),
    Column("log_id", Integer, nullable=False),
    Column("rules", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("built_to", BigInteger),
    Column("created_at", MOMENT, nullable=False),
)

fact = Table(
    "fact",
    metadata,
    Column("recorded_at", MOMENT, nullable=False),
    Column("at", MOMENT, nullable=False),
    Column("observed_at", MOMENT),
    Column("position", BigInteger, nullable=False),
    Column("object_id", BigInteger),
    Column("owner_id", BigInteger),
    Column("derivation_id", Integer, nullable=False),
    Column("node_id", Integer),
    Column("actor_id", Integer),
    Column("topic_id", Integer),
    Column("index", SmallInteger, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    Column("bearing", SmallInteger, nullable=False),
    Column("mark", SmallInteger),
    Column("value", Text),
    Column("place", Text),
    Column("labels", ARRAY(Text)),
    Column("keys", ARRAY(Text)),
    Column("owners", ARRAY(Text)),
    Column("detail", LargeBinary, nullable=False),
)

later_facts = Table(
    "later_facts",
    metadata,
    Column("log_id", Integer, primary_key=True),
    Column("day", Text, primary_key=True),
    Column("rules", Integer, primary_key=True),
    Column("manifest_sha256", LargeBinary, nullable=False),
    Column("written_at", MOMENT, nullable=False),
)

partition = Table(
    "partition",
    metadata,
    Column("name", Text, primary_key=True),
    Column("lower", MOMENT, nullable=False),
    Column("upper", MOMENT, nullable=False),
    Column("observed_min", MOMENT, nullable=False),
    Column("observed_max", MOMENT, nullable=False),
    Column("state", Text, nullable=False),
    Column("sealed_at", MOMENT),
    Column("archived_at", MOMENT),
    Column("dropped_at", MOMENT),
)

resume_point = Table(
    "resume_point",
    metadata,
    Column("log_id", Integer, primary_key=True),
    Column("source", Text, primary_key=True),
    Column("resource_id", SmallInteger, primary_key=True),
    Column("state", Text, nullable=False),
    Column("completed", Text),
    Column("pending", Text),
    Column("seen", ARRAY(Text), nullable=False),
    Column("began_at", MOMENT),
    Column("began_version", Text),
    Column("vouched_until", MOMENT),
    Column("last_frame_at", MOMENT),
    Column("entries", BigInteger, nullable=False),
    Column("gap_position", BigInteger),
    Column("gap_reason", Text),
    Column("gap_since", MOMENT),
    Column("gap_version", Text),
    Column("settled_until", MOMENT),
)

object_head = Table(
    "object_head",
    metadata,
    Column("object_id", BigInteger, primary_key=True),
    Column("log_id", Integer, nullable=False),
    Column("resource_id", SmallInteger, nullable=False),
    Column("epoch", SmallInteger, nullable=False),
    Column("version", BigInteger),
    Column("resource_version", Text),
    Column("position", BigInteger, nullable=False),
    Column("ready", Boolean),
    Column("heartbeats", BigInteger, nullable=False),
    Column("heartbeat_at", MOMENT),
    Column("substance", LargeBinary),
    Column("renewal", LargeBinary),
)


def among(
    column: ColumnElement[Any], values: Iterable[Any]
) -> ColumnElement[bool]:
    """Return the condition that a column has one of some values.

    In one parameter, however many they are, so that the statement is the
    same and its plan may serve again.
    """
    given = literal(list(values), ARRAY(column.type))
    return column == any_(given)
