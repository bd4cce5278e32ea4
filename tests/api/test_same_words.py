"""What is asked in two places has one answer, and a mistake has one code."""

import asyncio
from urllib.parse import quote

import orjson
import pytest

from recorder.cli import main
from recorder.model.errors import RecorderError
from tests.api.serving import Client
from tests.support.postgres import Database

DIFF = 'object(name: "node/gpu-002", log: 3) {{ diff({}) {{ outcome }} }}'
WHY = 'why(node: "gpu-002", log: 3, {}) {{ node }}'
MISTAKES = [
    (
        "why --log 3 node/gpu-002 --at 1h --since 2h",
        WHY.format('at: "1h", since: "2h"'),
        "question.time",
    ),
    (
        "why --log 3 node/gpu-002 --since 1h --until 2h",
        WHY.format('since: "1h", until: "2h"'),
        "question.time",
    ),
    (
        "why --log 3 node/gpu-002 --since noon",
        WHY.format('since: "noon"'),
        "question.time",
    ),
    (
        "replay --log 3 pod/train/x",
        'why(node: "pod/train/x", log: 3) { node }',
        "question.node",
    ),
    ("why node/gpu-002", 'why(node: "gpu-002") { node }', "question.log"),
    ("impact --log 3", "impact(log: 3) { nodes }", "question.selector"),
    (
        "impact --log 3 -l zone",
        'impact(labels: ["zone"], log: 3) { nodes }',
        "question.selector",
    ),
    ("log nope", 'entry(name: "nope") { raw }', "question.entry"),
    ("log 3/99999", 'entry(name: "3/99999") { raw }', "not_found.entry"),
    (
        "postmortem --log 3 3/1",
        'postmortem(subject: "3/1", log: 3) { node }',
        "not_found.incident",
    ),
    (
        "show --log 3 event/train/x",
        'object(name: "event/train/x", log: 3) { kind }',
        "question.object",
    ),
    (
        "diff --log 3 node/gpu-002 --from 9/1",
        DIFF.format('from: "9/1"'),
        "question.end",
    ),
    (
        "diff --log 3 node/gpu-002 --from 1h --to 2h",
        DIFF.format('from: "1h", to: "2h"'),
        "question.end",
    ),
]
EXPORTS = [
    ("log --log 3 --facts --raw", "log=3&facts=1&raw=1", "question"),
    ("log --log 3 -n train", "log=3&namespace=train", "question"),
    ("log --log 3 --source watsh", "log=3&source=watsh", "question"),
    ("log --log 3 --since noon", "log=3&since=noon", "question.time"),
    (
        "log --log 3 --since 1h --until 2h",
        "log=3&since=1h&until=2h",
        "question.time",
    ),
    ("log --log 3 --object x", "log=3&object=x", "question.object"),
]


@pytest.fixture
def commands(
    asked_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = asked_database.dsn("reader")
    monkeypatch.setenv("RECORDER_DATABASE_URL", url)
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")


def code_of(words: str) -> str:
    with pytest.raises(RecorderError) as raised:
        main.main(words.split(), "recorder", standalone_mode=False)
    return raised.value.code


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize(("words", "field", "code"), MISTAKES)
async def test_a_mistake_has_one_code_in_both_places(
    served: Client, words: str, field: str, code: str
) -> None:
    reply = await served.post({"query": f"{{ {field} }}"})

    assert reply.codes == [code], reply.json
    assert await asyncio.to_thread(code_of, words) == code
    (error,) = reply.json["errors"]
    assert "--" not in error["message"]
    assert "`recorder" not in error["message"]


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize(("words", "asked", "code"), EXPORTS)
async def test_a_mistake_has_one_code_in_an_export(
    served: Client, words: str, asked: str, code: str
) -> None:
    query = quote(asked, safe="=&")
    reply = await served.request("GET", f"export.ndjson?{query}")

    assert (reply.status, reply.codes) == (400, [code]), reply.json
    assert await asyncio.to_thread(code_of, words) == code
    assert "--" not in str(reply.json)


@pytest.mark.usefixtures("commands")
async def test_a_young_log_is_counted_alike_without_a_window(
    served: Client, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """It is younger than the day that the API covers of others."""
    found = await served.ask(
        """{ stats(log: 3) { vouched totals { incidents gpuHoursLost }
             window { since } coverage { complete since } } }"""
    )
    words = ["stats", "--log", "3", "-o", "json"]
    done = await asyncio.to_thread(
        main.main, words, "recorder", standalone_mode=False
    )

    (stats,) = found["stats"]
    printed = orjson.loads(capsysbinary.readouterr().out)
    assert (done, stats["coverage"]["complete"]) == (0, True)
    assert stats["vouched"] == printed["vouched"] == 1.0
    assert stats["totals"]["incidents"] == printed["totals"]["incidents"] > 0
    assert stats["window"]["since"] is None
