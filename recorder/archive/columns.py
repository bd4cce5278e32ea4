"""The columns of the files of an archive, as `docs/archive.md` has them."""

from typing import TypeAlias

import pyarrow as pa

from recorder.model.columns import ARCHIVED

Schema: TypeAlias = pa.Schema

MOMENT = pa.timestamp("us", tz="UTC")

ARROW = {
    "int32": pa.int32(),
    "int64": pa.int64(),
    "moment": MOMENT,
    "string": pa.string(),
    "binary": pa.binary(),
}

ENTRIES = pa.schema(
    [
        pa.field(one.name, ARROW[one.arrow or ""], nullable=not one.required)
        for one in ARCHIVED
    ]
)
ORDER = ("node", "observed_at", "position")
"""The order of entries in their files, nulls first."""

FACTS_ORDER = ("node_id", "at", "position", "index")
"""The order of facts, by those of these columns that they have."""

BATCHES = pa.schema(
    [
        pa.field("batch", pa.int64(), nullable=False),
        pa.field("first_position", pa.int64(), nullable=False),
        pa.field("entries", pa.int32(), nullable=False),
        pa.field("term", pa.int64(), nullable=False),
        pa.field("recorded_at", MOMENT, nullable=False),
        pa.field("observed_min", MOMENT, nullable=False),
        pa.field("observed_max", MOMENT, nullable=False),
        pa.field("root", pa.binary(32), nullable=False),
        pa.field("tree", pa.binary(32)),
        pa.field("sealed_at", MOMENT),
    ]
)
OBJECTS = pa.schema(
    [
        pa.field("object_id", pa.int64(), nullable=False),
        pa.field("kind_id", pa.int32(), nullable=False),
        pa.field("api_group", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("namespace", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("uid", pa.string()),
    ]
)
NODES = pa.schema(
    [
        pa.field("node_id", pa.int32(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
    ]
)
WORDS = pa.schema(
    [
        pa.field("word_id", pa.int32(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
    ]
)

WHOSE = pa.schema(
    [
        pa.field("log_uid", pa.string(), nullable=False),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("day", pa.date32(), nullable=False),
    ]
)
"""The last columns of every file, with one value each, so that files of many
logs and days can be read as one table."""

TYPES = {
    "boolean": pa.bool_(),
    "smallint": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "double precision": pa.float64(),
    "timestamp with time zone": MOMENT,
    "bytea": pa.binary(),
    "smallint[]": pa.list_(pa.int32()),
    "integer[]": pa.list_(pa.int32()),
    "bigint[]": pa.list_(pa.int64()),
    "text[]": pa.list_(pa.string()),
}
"""By type of PostgreSQL; any other type becomes text.

Narrower numbers are not used: Iceberg has none, and Spark cannot read such a
column once a later release makes it wider."""


def schema_of(columns: list[tuple[str, str]]) -> Schema:
    """Return the schema of a table, by names and types of PostgreSQL."""
    made: Schema = pa.schema(
        [(name, TYPES.get(kind, pa.string())) for name, kind in columns]
    )
    return made


def of_a_day(schema: Schema) -> Schema:
    """Return the schema of a file, which adds whose its rows are."""
    made: Schema = pa.schema([*schema, *WHOSE])
    return made
