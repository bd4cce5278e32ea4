"""Events from scripts: sent now or later, in their order, each once."""

import asyncio
import itertools
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from recorder.keeping import spool as spools
from recorder.keeping.sending import flush, receiver_at
from recorder.keeping.spool import Spool, SpoolError
from recorder.keeping.tokens import TokenFile
from recorder.model.entry import Operation
from tests.claims.posting import an_event
from tests.claims.test_door import Doorway
from tests.conftest import TEMPLATE
from tests.crash.test_files import deaths
from tests.support.postgres import DatabaseServer, fresh_database
from tests.support.read_log import read_log

COMMAND = (sys.executable, "-m", "recorder", "send")


class Script:
    """A machine without a recorder, whose scripts send events."""

    def __init__(self, folder: Path, address: str, token: str) -> None:
        self.spool = folder / "spool"
        file = folder / "token"
        file.write_text(f"{token}\n")
        file.chmod(0o600)
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "RECORDER_SEND_URL": address,
            "RECORDER_SEND_TOKEN_FILE": str(file),
            "RECORDER_SEND_SPOOL": str(self.spool),
        }

    async def send(self, *words: str, data: bytes = b"") -> tuple[int, str]:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *words,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate(data)
        assert process.returncode is not None
        return process.returncode, said.decode()

    def files(self, folder: str = ".") -> list[Path]:
        return sorted(self.spool.glob(f"*/{folder}/*.json"))


@pytest.fixture
async def doorway(tmp_path: Path) -> AsyncIterator[Doorway]:
    one = Doorway(tmp_path)
    async with one.listening():
        yield one


@pytest.fixture
def script(doorway: Doorway, tmp_path: Path) -> Script:
    return Script(tmp_path, doorway.address, doorway.pdu)


def recorded(doorway: Doorway) -> list[dict[str, Any]]:
    return [orjson.loads(claim.raw) for claim in doorway.claims()]


async def test_an_event_of_a_script_is_in_the_log(
    doorway: Doorway, script: Script
) -> None:
    words = ("machine.power", "node/gpu-1", "--source", "pdu/b3")
    async with doorway.recording():
        first = await script.send(
            *words, "power=off", "watts=0", "outlet='7'", "by=", "--id", "7"
        )
        again = await script.send(*words, "power=on", "--id", "7")
        text = await script.send(
            *words, "--data", "-", "--time", "none", data=b"Oops: 0002\n"
        )

    assert (first, again, text) == ((0, ""), (0, ""), (0, ""))
    event, dump = recorded(doorway)
    assert event.pop("time").endswith("Z")
    assert event == {
        "specversion": "1.0",
        "id": "7",
        "source": "pdu/b3",
        "type": "machine.power",
        "subject": "node/gpu-1",
        "data": {"power": "off", "watts": 0, "outlet": "'7'", "by": ""},
    }
    assert dump["data"] == "Oops: 0002\n"
    assert "time" not in dump
    assert script.files() == []


async def test_events_wait_for_the_recorder_in_their_order(
    doorway: Doorway, script: Script
) -> None:
    words = ("machine.power", "node/gpu-1", "--source", "pdu/b3", "--id")
    away = [await script.send(*words, str(number)) for number in range(3)]
    assert {status for status, _ in away} == {4}
    assert "3 events kept, to be sent later" in away[-1][1]
    assert "does not write the log now" in away[-1][1]
    status, _ = await script.send("--flush")
    assert (status, len(script.files())) == (4, 3)

    async with doorway.recording():
        back = await script.send(*words, "3")
        empty = await script.send("--flush")

    assert (back, empty) == ((0, ""), (0, ""))
    assert [one["id"] for one in recorded(doorway)] == ["0", "1", "2", "3"]


async def test_a_refused_event_is_named_and_holds_up_none(
    doorway: Doorway, script: Script
) -> None:
    words = ("--source", "pdu/b3", "--id")
    await script.send("machine.power", "node/gpu-1", *words, "1")
    await script.send("note", "node/gpu-1", *words, "2")
    await script.send("machine.power", "node/gpu-1", *words, "3")
    async with doorway.recording():
        good, said = await script.send(
            "machine.power", "node/gpu-1", *words, "4"
        )
        bad, why = await script.send(
            "machine.power", "node/gpu-1", "--time", "2999-01-01T00:00:00Z",
            *words, "5",
        )  # fmt: skip

    assert (good, bad) == (0, 1)
    assert 'refused, 403: the token "pdu" may not claim type "note"' in said
    assert '"time" is in the future' in why
    assert [one["id"] for one in recorded(doorway)] == ["1", "3", "4"]
    assert script.files() == []
    kept = [orjson.loads(one.read_bytes()) for one in script.files("refused")]
    assert {(one["event"]["id"], one["status"]) for one in kept} == {
        ("2", 403),
        ("5", 400),
    }


async def test_a_token_that_is_not_valid_loses_no_event(
    doorway: Doorway, script: Script
) -> None:
    async with doorway.recording():
        doorway.tokens.revoke("pdu")
        status, said = await script.send("note", "node/gpu-1")

    assert status == 4
    assert "answers 401: the token is not valid" in said
    assert len(script.files()) == 1


async def test_several_scripts_send_at_once(
    doorway: Doorway, script: Script
) -> None:
    async with doorway.recording(), asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(
                script.send("machine.power", "node/a", "--source", name)
            )
            for name in ("pdu/1", "pdu/2", "pdu/3", "pdu/4", "pdu/5")
        ]

    assert [task.result() for task in tasks] == [(0, "")] * 5
    assert len(recorded(doorway)) == 5
    assert script.files() == []


async def test_what_cannot_be_sent_is_a_usage_error(tmp_path: Path) -> None:
    script = Script(tmp_path, "http://recorder.example", "rec_x")
    clear = await script.send("note", "node/a")
    script.environment["RECORDER_SEND_URL"] = "https://127.0.0.1:1"
    several = [
        await script.send("note", "node/a", "text"),
        await script.send("note", "node/a", "--time", "yesterday"),
        await script.send("note"),
    ]
    away = await script.send("note", "node/a")
    del script.environment["RECORDER_SEND_URL"]
    nowhere = await script.send("note", "node/a")

    assert (clear[0], nowhere[0]) == (2, 2)
    assert "would not be encrypted" in clear[1]
    assert "send_url" in nowhere[1]
    assert [status for status, _ in several] == [2, 2, 2]
    assert away[0] == 4
    assert "127.0.0.1:1 does not answer" in away[1]


def test_the_spool_is_bounded_and_loses_nothing_that_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spools, "FILES_MAX", 3)
    monkeypatch.setattr(spools, "BYTES_MAX", 100)
    spool = Spool(tmp_path)
    spool.put(b"x" * 40)
    with pytest.raises(SpoolError, match="1 events wait"):
        spool.put(b"y" * 61)
    spool.put(b"2")
    spool.put(b"3")
    with pytest.raises(SpoolError, match="3 events wait"):
        spool.put(b"4")

    assert [one.document for one in spool.oldest()] == [b"x" * 40, b"2", b"3"]


def test_a_clock_that_was_set_back_keeps_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path)
    for number, at in enumerate((5_000, 4_000, 6_000)):
        monkeypatch.setattr(time, "time_ns", lambda at=at: at)
        spool.put(b"%d" % number)

    assert [one.document for one in spool.oldest()] == [b"0", b"1", b"2"]


@pytest.mark.timeout(120)
def test_a_sender_that_dies_at_any_step_loses_and_repeats_nothing(
    embedded_server: DatabaseServer, tmp_path: Path
) -> None:
    """Of putting, of sending, and of moving what is refused."""
    token = TokenFile(tmp_path / "senders").add("a", claims=("pdu/*", "m*"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    Script(tmp_path, "", token)
    receiver = receiver_at(
        f"http://127.0.0.1:{port}", tmp_path / "token", None
    )
    spool = Spool(tmp_path / "spool")
    numbers = itertools.count()
    put: list[str] = []

    def event(kind: str = "machine.power") -> bytes:
        return orjson.dumps(an_event(next(numbers), type=kind))

    with asyncio.Runner() as runner:
        fresh = fresh_database(embedded_server, TEMPLATE)
        database = runner.run(fresh.__aenter__())
        recorder = subprocess.Popen(
            [
                sys.executable, "-m", "tests.claims.posting",
                database.dsn("writer"), str(tmp_path / "senders"), str(port),
            ]
        )  # fmt: skip
        try:
            one = event()
            for _ in deaths(lambda: spool.put(one)):
                assert {e.document for e in spool.oldest()} <= {one}
            put.append(orjson.loads(one)["id"])
            while flush(spool, receiver, 30).trouble:
                time.sleep(0.05)
            several = [event(), event("note"), event()]
            for document in several:
                spool.put(document)
            put += [orjson.loads(several[n])["id"] for n in (0, 2)]
            for _ in deaths(lambda: flush(spool, receiver, 30)):
                pass
            assert spool.count() == 0
            assert spool.refusal_of(several[1]) is not None
        finally:
            recorder.kill()
            recorder.wait()
        log = runner.run(read_log(database.dsn("reader")))
        asked = subprocess.run(
            [
                *COMMAND[:-1], "--database-url", database.dsn("reader"),
                "log", "--object", "cloudevent/node/gpu-1", "-o", "name",
            ],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        runner.run(fresh.__aexit__(None, None, None))
    assert [
        orjson.loads(draft.raw)["id"]
        for _, draft in log.entries
        if draft.operation is Operation.CLOUDEVENT
    ] == put
    assert len(asked.stdout.split()) == len(put), "by what they are about"
