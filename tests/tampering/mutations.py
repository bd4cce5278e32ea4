"""What a superuser may do to a log with the triggers off, at random.

Each mutation says which batches it touches, by their numbers; None where any
may be named. Those that rewrite hashes as well do it as the log itself does.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

import asyncpg

from recorder.integrity.tree import CompactRange
from recorder.store.checking import check_batches
from recorder.store.read_batches import headers, read_end

Found = set[int] | None


@dataclass(frozen=True)
class Tampering:
    """A superuser's session, in a transaction that is rolled back."""

    connection: asyncpg.Connection
    random: Random

    async def run(self, statement: str, *values: object) -> None:
        await self.connection.execute(statement, *values)

    async def entry(self, where: str = "true") -> asyncpg.Record:
        """Return any entry of log 1 that meets a condition."""
        rows = await self.connection.fetch(
            "select e.*, b.batch from recorder.entry e join lateral ("
            " select batch from recorder.batch b where b.log_id = 1"
            " and b.first_position <= e.position"
            " order by first_position desc limit 1) b on true"
            f" where log_id = 1 and {where} order by position"
        )
        return self.random.choice(rows)

    async def change(
        self, entry: asyncpg.Record, column: str, new: str
    ) -> set[int]:
        """Set a column of an entry to an expression."""
        await self.run(
            f"update recorder.entry set {column} = {new}"
            " where log_id = 1 and position = $1",
            entry["position"],
        )
        return {entry["batch"]}

    async def batch(self, where: str = "true") -> asyncpg.Record:
        rows = await self.connection.fetch(
            f"select * from recorder.batch where log_id = 1 and {where}"
            " order by batch"
        )
        return self.random.choice(rows)


ENTRIES = "from recorder.entry where log_id = 1"
NAMED = {
    "node": f"node_id in (select node_id {ENTRIES})",
    "word": f"word_id in (select reason_id {ENTRIES})",
    "object": f"object_id in (select object_id {ENTRIES})",
    "resource": f"resource_id in (select resource_id {ENTRIES})",
    "kind": "kind_id in (select kind_id from recorder.object"
    f" where object_id in (select object_id {ENTRIES}))",
}
"""The names that entries of log 1 refer to."""

Mutation = Callable[[Tampering], Awaitable[Found]]
MUTATIONS: dict[str, Mutation] = {}


def mutation(made: Mutation) -> Mutation:
    MUTATIONS[made.__name__.replace("_", " ")] = made
    return made


@mutation
async def one_bit_of_a_payload(t: Tampering) -> Found:
    entry = await t.entry()
    bit = t.random.randrange(len(entry["payload"]) * 8)
    return await t.change(
        entry,
        "payload",
        f"set_bit(payload, {bit}, 1 - get_bit(payload, {bit}))",
    )


@mutation
async def a_payload_of_another_entry(t: Tampering) -> Found:
    entry = await t.entry("base_distance is null")
    other = await t.entry(
        f"base_distance is null and encoding = {entry['encoding']}"
        f" and position <> {entry['position']}"
        if entry["encoding"] >= 16
        else f"position <> {entry['position']}"
    )
    await t.run(
        "update recorder.entry e set payload = o.payload,"
        " encoding = o.encoding, base_distance = null"
        " from recorder.entry o where e.log_id = 1 and e.position = $1"
        " and o.log_id = 1 and o.position = $2",
        entry["position"],
        other["position"],
    )
    return {entry["batch"]}


@mutation
async def a_time(t: Tampering) -> Found:
    entry = await t.entry()
    column = t.random.choice(["observed_at", "recorded_at", "occurred_at"])
    by = t.random.choice([1, -1, 1000, 3_600_000_000])
    value = f"coalesce({column}, now()) + interval '{by} us'"
    if column == "recorded_at":
        # Within the day, or the row would lie in another partition.
        value = f"{column} + interval '1 us'"
    return await t.change(entry, column, value)


@mutation
async def a_number(t: Tampering) -> Found:
    entry = await t.entry()
    column = t.random.choice(
        ["version", "epoch", "operation", "source", "encoding"]
    )
    by = t.random.choice([1, 2])
    return await t.change(entry, column, f"coalesce({column}, 0) + {by}")


@mutation
async def a_resource_version(t: Tampering) -> Found:
    entry = await t.entry()
    return await t.change(entry, "resource_version", "'7'")


@mutation
async def a_node(t: Tampering) -> Found:
    entry = await t.entry("node_id is not null")
    new = t.random.choice(
        [
            "null",
            "99999",
            (
                "(select min(node_id) from recorder.node"
                f" where node_id <> {entry['node_id']})"
            ),
        ]
    )
    return await t.change(entry, "node_id", new)


@mutation
async def an_object(t: Tampering) -> Found:
    entry = await t.entry("object_id is not null")
    new = t.random.choice(
        [
            "null",
            "987654321",
            (
                "(select min(object_id) from recorder.object"
                f" where object_id <> {entry['object_id']})"
            ),
        ]
    )
    return await t.change(entry, "object_id", new)


@mutation
async def a_reason_or_an_actor(t: Tampering) -> Found:
    column = t.random.choice(["reason_id", "actor_id"])
    entry = await t.entry(f"{column} is not null")
    new = t.random.choice(["null", f"{column} + 1", "88888"])
    return await t.change(entry, column, new)


@mutation
async def a_collection(t: Tampering) -> Found:
    entry = await t.entry("resource_id is not null")
    return await t.change(
        entry,
        "resource_id",
        "(select min(resource_id) from recorder.resource"
        f" where resource_id <> {entry['resource_id']})",
    )


@mutation
async def a_keyframe(t: Tampering) -> Found:
    entry = await t.entry("base_distance is not null")
    return await t.change(
        entry, "base_distance", f"base_distance + {t.random.choice([-1, 1])}"
    )


@mutation
async def two_rows_swapped(t: Tampering) -> Found:
    one = await t.entry("base_distance is null")
    two = await t.entry(
        f"base_distance is null and position <> {one['position']}"
    )
    await t.run(
        "update recorder.entry set position = case position"
        " when $1 then $2 else $1 end"
        " where log_id = 1 and position in ($1, $2)",
        one["position"],
        two["position"],
    )
    return {one["batch"], two["batch"]}


@mutation
async def a_row_removed(t: Tampering) -> Found:
    entry = await t.entry()
    await t.run(
        "delete from recorder.entry where log_id = 1 and position = $1",
        entry["position"],
    )
    return {entry["batch"]}


@mutation
async def a_gap_removed(t: Tampering) -> Found:
    entry = await t.entry("operation in (101, 102)")
    await t.run(
        "delete from recorder.entry where log_id = 1 and position = $1",
        entry["position"],
    )
    return {entry["batch"]}


@mutation
async def a_row_moved_to_another_log(t: Tampering) -> Found:
    entry = await t.entry()
    return await t.change(entry, "log_id", "2")


@mutation
async def a_row_doubled(t: Tampering) -> Found:
    entry = await t.entry()
    later = t.random.choice(["recorded_at", "recorded_at + interval '1 s'"])
    columns = (
        "observed_at, occurred_at, position, object_id, version, log_id,"
        " node_id, reason_id, actor_id, base_distance, epoch, resource_id,"
        " operation, source, encoding, resource_version, payload"
    )
    await t.run(
        f"insert into recorder.entry (recorded_at, {columns})"
        f" select {later}, {columns} from recorder.entry"
        " where log_id = 1 and position = $1",
        entry["position"],
    )
    return None


@mutation
async def a_row_invented(t: Tampering) -> Found:
    where = t.random.choice(
        ["0", "(select size + 1 from recorder.log_head where log_id = 1)"]
    )
    await t.run(
        "insert into recorder.entry (recorded_at, observed_at, position,"
        " log_id, epoch, operation, source, encoding, payload)"
        f" select recorded_at, observed_at, {where}, 1, 1, 3, 1, 0, '{{}}'"
        " from recorder.entry where log_id = 1 limit 1"
    )
    return None


@mutation
async def a_name(t: Tampering) -> Found:
    table, column = t.random.choice(
        [
            ("node", "name"),
            ("word", "text"),
            ("object", "name"),
            ("object", "namespace"),
            ("object", "uid"),
            ("kind", "name"),
            ("resource", "name"),
        ]
    )
    rows = await t.connection.fetch(
        f"select ctid::text as place from recorder.{table}"
        f" where {NAMED[table]} order by 1"
    )
    await t.run(
        f"update recorder.{table} set {column} = coalesce({column}, '') || 'x'"
        f" where ctid = '{t.random.choice(rows)['place']}'"
    )
    return None


@mutation
async def a_name_removed(t: Tampering) -> Found:
    entry = await t.entry("object_id is not null")
    await t.run(
        "delete from recorder.object where object_id = $1", entry["object_id"]
    )
    return None


@mutation
async def a_dictionary_replaced(t: Tampering) -> Found:
    await t.run(
        "update recorder.dictionary set bytes = o.bytes,"
        " sha256 = sha256(o.bytes || 'x') from (select bytes"
        " from recorder.dictionary order by random() limit 1) o"
        " where dictionary_id = (select encoding - 16 from recorder.entry"
        "  where log_id = 1 and encoding >= 16 order by position limit 1)"
    )
    return None


@mutation
async def a_header(t: Tampering) -> Found:
    batch = await t.batch()
    column, new = t.random.choice(
        [
            ("entries", "entries + 1"),
            ("first_position", "first_position + 1000000"),
            ("term", "term + 1"),
            ("recorded_at", "recorded_at + interval '1 us'"),
            ("observed_min", "observed_min - interval '1 us'"),
            ("observed_max", "observed_max + interval '1 us'"),
            ("root", "sha256('x')"),
            ("tree", "sha256('x')"),
        ]
    )
    await t.run(
        f"update recorder.batch set {column} = {new}"
        " where log_id = 1 and batch = $1",
        batch["batch"],
    )
    return {batch["batch"]}


@mutation
async def a_header_removed(t: Tampering) -> Found:
    batch = await t.batch()
    await t.run(
        "delete from recorder.batch where log_id = 1 and batch = $1",
        batch["batch"],
    )
    return {batch["batch"]}


@mutation
async def the_head(t: Tampering) -> Found:
    column, new = t.random.choice(
        [
            ("peaks", "set_bit(peaks, 3, 1 - get_bit(peaks, 3))"),
            ("size", "size + 1"),
            ("size", "size - 1"),
            ("batches", "batches + 1"),
        ]
    )
    await t.run(
        f"update recorder.log_head set {column} = {new} where log_id = 1"
    )
    return None


@mutation
async def the_cluster(t: Tampering) -> Found:
    await t.run("update recorder.log set cluster_uid = 'x' where log_id = 1")
    return None


@mutation
async def the_log_s_own_name(t: Tampering) -> Found:
    await t.run(
        "update recorder.log set uid = gen_random_uuid() where log_id = 1"
    )
    return None


@mutation
async def a_batch_replaced_and_hashed_anew(t: Tampering) -> Found:
    changed = await any_content(t)
    await rehash(t, until=max(changed))
    return changed


@mutation
async def a_batch_replaced_and_all_behind_it_hashed_anew(
    t: Tampering,
) -> Found:
    changed = await any_content(t)
    await rehash(t, until=None)
    return changed


@mutation
async def the_end_removed_without_a_trace(t: Tampering) -> Found:
    batch = await t.batch("batch > 1")
    number, first = batch["batch"], batch["first_position"]
    await t.run(
        "delete from recorder.entry where log_id = 1 and position >= $1", first
    )
    await t.run(
        "delete from recorder.batch where log_id = 1 and batch >= $1", number
    )
    await t.run(
        "update recorder.log_head set size = $1, batches = $2"
        " where log_id = 1",
        first - 1,
        number - 1,
    )
    await rehash(t, until=None)
    return {number}


async def any_content(t: Tampering) -> set[int]:
    """Change the text of an entry, so that it can still be read."""
    entry = await t.entry("occurred_at is not null")
    return await t.change(entry, "occurred_at", "occurred_at + interval '1 s'")


OF_BATCH = "update recorder.batch set {} = $2 where log_id = 1 and batch = $1"


async def rehash(t: Tampering, *, until: int | None) -> None:
    """Compute roots again, and trees if it is to the end."""
    connection = t.connection
    end = await read_end(connection, 1)
    roots = {}
    async for one in check_batches(
        connection, end, after=0, until=end.batches
    ):
        assert one.root is not None
        roots[one.stored.header.batch] = one.root
    for number, root in roots.items():
        await t.run(
            OF_BATCH.format("root"),
            number,
            root,
        )
    if until is not None:
        return
    tree = CompactRange()
    async for stored in headers(connection, end, after=0, until=end.batches):
        tree.append(stored.header.hash())
        await t.run(
            OF_BATCH.format("tree"),
            stored.header.batch,
            tree.root(),
        )
    await t.run(
        "update recorder.log_head set peaks = $1 where log_id = 1", tree.pack()
    )


@mutation
async def an_entry_changed_and_the_root_removed(t: Tampering) -> Found:
    """As if its batch were of a release without hashes."""
    changed = await any_content(t)
    await t.run(
        "update recorder.batch set root = null"
        " where log_id = 1 and batch = any ($1::int8[])",
        list(changed),
    )
    return changed
