"""What cannot be answered is refused by name, and the next one is answered."""

import asyncio
import random
from collections.abc import AsyncIterator

import aiohttp
import orjson
import pytest

from tests.api.serving import Client, served_by
from tests.support.postgres import Database, connected
from tests.support.sampling import sampled
from tests.support.written_log import WrittenLog, changes

SIMPLE = '{ nodeNames(cluster: "crash") }'

CYCLE = "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }"
BOMB = "{ ...F0 } " + " ".join(
    f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} a{n}: __typename }}"
    for n in range(30)
)
SILENT_BOMB = "{ ...F0 } " + " ".join(
    f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(36)
)
"""Of fragments alone, down to one that there is not: half a minute for 25."""

REPEATED = "{ incidents { " + "nodes { id } " * 900 + "} }"
"""Two seconds of comparing each with each."""

DEEP = "{ a " * 16 + "} " * 16

LONG_AGO = (
    '{ incidents(cluster: "crash", since: "2000-01-01T00:00:00Z",'
    ' until: "2026-01-01T00:00:00Z") { count } }'
)
BACKWARDS = (
    '{ why(node: "gpu-002", cluster: "crash",'
    ' since: "2026-01-02T00:00:00Z", until: "2026-01-01T00:00:00Z")'
    " { node } }"
)
OF_ANOTHER = (
    '{ entries(cluster: "crash", first: 3, after: "djE6MToxOjA")'
    " { nodes { name } } }"
)
"""A cursor of log 1, where log 3 is asked."""


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{", "graphql.invalid"),
        ("{ nope }", "graphql.invalid"),
        ("query A { clusters { name } } query B { x }", "graphql.invalid"),
        ("mutation { delete }", "graphql.invalid"),
        (CYCLE, "api.limit"),
        (BOMB + " fragment F30 on Query { __typename }", "api.limit"),
        (SILENT_BOMB, "api.limit"),
        (REPEATED, "api.limit"),
        (DEEP, "api.limit"),
        ("{" * 900, "graphql.invalid"),
        ("{ " + "a " * 4100 + "}", "graphql.invalid"),
        (
            "{ " + " ".join(f"a{n}: __typename" for n in range(31)) + " }",
            "api.limit",
        ),
        (
            "{ clusters { "
            + " ".join(f"a{n}: name" for n in range(101))
            + " } }",
            "api.limit",
        ),
        ('{ facts(cluster: "crash", first: 1000000000) { nodes { at } } }',
         "question.first"),
        ('{ facts(cluster: "crash", first: 0) { nodes { at } } }',
         "question.first"),
        ('{ facts(cluster: "crash", first: 1, last: 1) { nodes { at } } }',
         "question.first"),
        ('{ entries(cluster: "crash", after: "!") { nodes { name } } }',
         "question.cursor"),
        (OF_ANOTHER, "question.cursor"),
        (LONG_AGO, "question.window_too_wide"),
        (BACKWARDS, "question.time"),
        ('{ why(node: "nope", cluster: "crash") { node } }', "not_found"),
        ('{ why(node: "pod/a/b", cluster: "crash") { node } }',
         "question.node"),
        ('{ why(node: "gpu-002", cluster: "nope") { node } }', "not_found"),
        ('{ why(node: "gpu-002") { node } }', "question.log"),
        ('{ why(node: "gpu-002", log: "x") { node } }', "question.log"),
        ('{ entry(name: "nope") { raw } }', "question.entry"),
        ('{ entry(name: "3/999999") { raw } }', "not_found.entry"),
        ('{ incident(id: "3/1") { cluster } }', "not_found.incident"),
        ('{ object(name: "x", cluster: "crash") { kind } }',
         "question.object"),
        ('{ impact(cluster: "crash") { nodes } }', "question.selector"),
        ('{ incidents(cluster: "crash", steps: 0) { count } }',
         "question.first"),
    ],
)  # fmt: skip
async def test_a_question_that_cannot_be_answered_has_a_code(
    served: Client, query: str, code: str
) -> None:
    reply = await served.post({"query": query})

    assert reply.status == 200
    assert reply.codes == [code], reply.json
    assert await served.answers()


async def test_several_logs_are_listed_with_how_to_name_one(
    served: Client,
) -> None:
    reply = await served.post({"query": '{ why(node: "gpu-002") { node } }'})

    (error,) = reply.json["errors"]
    assert error["message"].endswith("; name one with cluster: or log:")


UNWRITABLE = [
    "why(node: $bad, log: 1) { node }",
    "node(name: $bad, log: 1) { name }",
    "nodeNames(prefix: $bad, log: 1)",
    "search(text: $bad, log: 1) { more }",
    "facts(log: 1, node: $bad) { nodes { at } }",
    "facts(log: 1, reason: $bad) { nodes { at } }",
    "entries(log: 1, actor: $bad) { nodes { name } }",
    'object(name: "pod/x", namespace: $bad, log: 1) { kind }',
    'workload(name: "job/x", namespace: $bad, log: 1) { gpus }',
    "impact(nodes: [$bad], log: 1) { nodes }",
    "impact(rack: $bad, log: 1) { nodes }",
    "postmortem(subject: $bad, log: 1) { node }",
]


@pytest.mark.parametrize("field", UNWRITABLE)
async def test_a_text_that_no_log_can_hold_is_refused(
    served: Client, field: str
) -> None:
    query = f"query Bad($bad: String!) {{ {field} }}"

    reply = await served.post({"query": query, "variables": {"bad": "a\0b"}})

    assert reply.codes == ["question.text"], reply.json
    assert "no text in a log contains" in str(reply.json)


@pytest.mark.parametrize(
    "asked",
    ["node=a%00b", "object=pod/a%00/b", "reason=%00", "actor=%00&facts=1"],
)
async def test_an_export_of_what_no_log_can_hold_is_refused(
    served: Client, asked: str
) -> None:
    reply = await served.request("GET", f"export.ndjson?log=1&{asked}")

    assert reply.status == 400
    assert reply.codes == ["question.text"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b'{"query": 1}', 400),
        (b'{"query": ""}', 400),
        (b'[{"query": "{ __typename }"}]', 400),
        (b'{"query": "{ __typename }", "variables": []}', 400),
        (b'{"query": "\xff\xfe"}', 400),
        (b'{"query": "' + b"a" * (257 << 10) + b'"}', 413),
        (b"[" * 100_000, 400),
    ],
)
async def test_a_body_that_is_no_question_is_refused(
    served: Client, body: bytes, status: int
) -> None:
    reply = await served.request(
        "POST",
        "graphql",
        data=body,
        headers={"Content-Type": "application/json"},
    )

    assert reply.status == status
    assert reply.codes == ["api.request"]
    assert await served.answers()


async def test_a_stopped_field_leaves_the_others_their_answers(
    served: Client,
) -> None:
    reply = await served.post(
        {
            "query": '{ bad: why(node: "nope", cluster: "crash") { node }'
            ' good: why(node: "gpu-002", cluster: "crash") { node } }'
        }
    )

    assert reply.json["data"]["bad"] is None
    assert reply.json["data"]["good"] == {"node": "gpu-002"}
    assert reply.json["errors"][0]["path"] == ["bad"]


async def test_nothing_of_the_inside_is_shown(
    served: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*given: object, **more: object) -> None:
        del given, more
        msg = "password=secret of postgresql://"
        raise RuntimeError(msg)

    monkeypatch.setattr("recorder.answers.why.ask_why", broken)
    reply = await served.post(
        {"query": '{ why(node: "gpu-002", cluster: "crash") { node } }'}
    )

    assert reply.codes == ["internal"]
    assert b"secret" not in reply.body
    assert b"Runtime" not in reply.body


@pytest.mark.timeout(300)  # thousands of requests, client and all
async def test_random_bodies_stop_nothing(served: Client) -> None:
    chance = random.Random(7)
    pieces = [
        *(b"{", b"}", b'"query"', b":", b'"{ facts', b"null", b'"', b"..."),
        *(b"$a", b"[", b"]", b"\xc3", b"1e9", b"fragment A", b"\\u0000"),
    ]

    def body() -> bytes:
        if chance.random() < 0.5:
            return chance.randbytes(chance.randrange(200))
        parts = chance.choices(pieces, k=chance.randrange(1, 30))
        if chance.random() < 0.5:
            return orjson.dumps({"query": b"".join(parts).decode("latin-1")})
        return b"".join(parts)

    statuses: set[int] = set()

    async def send(bodies: list[bytes]) -> None:
        for one in bodies:
            reply = await served.request(
                "POST",
                "graphql",
                data=one,
                headers={"Content-Type": "application/json"},
            )
            statuses.add(reply.status)

    every = sampled("bodies", (body() for _ in range(10_000)), 2_500)
    async with asyncio.TaskGroup() as group:
        for start in range(8):
            group.create_task(send(every[start::8]))

    assert statuses <= {200, 400}
    assert await served.answers()


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
    ],
)
async def test_pages_of_others_may_not_ask(
    served: Client, headers: dict[str, str]
) -> None:
    reply = await served.post({"query": SIMPLE}, headers=headers)

    assert reply.status == 403
    assert reply.codes == ["access.origin"]


async def test_the_page_itself_may_ask(served: Client) -> None:
    origin = served.address.rstrip("/")

    found = await served.ask(SIMPLE, headers={"Origin": origin})

    assert found["nodeNames"]


@pytest.fixture
async def pruned(database: Database) -> AsyncIterator[Client]:
    """A log whose first ten entries are no more."""
    written_log = WrittenLog(database.dsn("writer"))
    await written_log.begin("n1")
    await written_log.append(*changes("n1", 2, 20))
    await written_log.end()
    async with connected(database.superuser_dsn()) as connection:
        for table in ("entry", "fact"):
            parts = "select relid::text from pg_partition_tree($1::regclass)"
            name = f"recorder.{table}"
            for (part,) in await connection.fetch(parts, name):
                await connection.execute(
                    f"alter table {part} disable trigger user"
                )
            await connection.execute(
                f"delete from {name} where position <= 10"
            )
    async with served_by(database.dsn("reader")) as client:
        yield client


async def test_a_cursor_before_what_was_pruned_has_expired(
    pruned: Client,
) -> None:
    query = """query Page($after: String) {
      facts(first: 3, after: $after) { nodes { entry }
        pageInfo { endCursor } } }"""

    codes = await pruned.refused(query, after="djE6MTo1OjE2Mzg0")
    kept = await pruned.ask(query, after="djE6MToxMDoxNjM4NA")
    anew = await pruned.ask(query)

    assert codes == ["question.cursor_expired"]
    assert kept == anew
    assert kept["facts"]["nodes"][0]["entry"] == "1/11"


async def test_an_unknown_address_of_the_export_is_refused(
    served: Client,
) -> None:
    for query, status in (
        ("nope=1", 400),
        ("raw=2", 400),
        ("limit=x&cluster=crash", 400),
        ("since=yesterday&cluster=crash", 400),
        ("cluster=nope", 404),
        ("cluster=crash&node=nope", 404),
    ):
        reply = await served.request("GET", f"export.ndjson?{query}")
        assert reply.status == status, query
        assert reply.codes, query


async def test_a_question_that_is_given_up_leaves_its_worker_free(
    served: Client,
) -> None:
    url = served.address + "graphql"
    for _ in range(12):
        with pytest.raises(TimeoutError):
            await served.session.post(
                url,
                json={"query": '{ incidents(cluster: "crash") { count } }'},
                timeout=aiohttp.ClientTimeout(total=0.001),
            )

    assert await served.answers()
