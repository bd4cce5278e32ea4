"""The senders in the documentation work as they are written there."""

import asyncio
import configparser
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from recorder.explain.knowledge import load
from recorder.facts.topology import Topology
from recorder.listening import bound_socket, listening
from recorder.model.facts import Claimed
from recorder.model.moment import LAST
from recorder.model.place import Place
from recorder.sources.claims.mappings import read_mappings
from tests.claims.posting import BOUNDS
from tests.claims.test_converters import UFM
from tests.claims.test_door import Doorway
from tests.claims.test_sending import Script
from tests.support.programs import found

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "docs/sources.md"
SENDERS = ROOT / "deploy/senders"
FOREVER = 60


def block(heading: str, language: str = "text") -> str:
    """Return the first block of code below a heading."""
    _, _, below = SOURCES.read_text().partition(f"# {heading}\n")
    written = re.search(rf"```{language}\n(.*?)```", below, re.DOTALL)
    assert written is not None
    return written[1]


@pytest.fixture
async def doorway(tmp_path: Path) -> AsyncIterator[Doorway]:
    one = Doorway(tmp_path)
    one.pdu = one.tokens.add("site", claims=("*", "*"))
    async with one.listening(), one.recording():
        yield one


def recorded(doorway: Doorway) -> list[dict[str, Any]]:
    return [orjson.loads(claim.raw) for claim in doorway.claims()]


def test_systemd_takes_the_unit_for_kernel_dumps(tmp_path: Path) -> None:
    unit = tmp_path / "recorder-pstore.service"
    unit.write_text((SENDERS / "recorder-pstore.service").read_text())
    done = subprocess.run(
        [found("systemd-analyze"), "verify", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    about = [line for line in done.stderr.splitlines() if "recorder" in line]
    assert (done.returncode, about) == (0, [])


async def test_the_unit_sends_each_kernel_dump_once(
    doorway: Doorway, tmp_path: Path
) -> None:
    unit = configparser.RawConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string((SENDERS / "recorder-pstore.service").read_text())
    folder = tmp_path / "pstore"
    folder.mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "recorder"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m recorder "$@"\n')
    command.chmod(0o755)
    script = Script(tmp_path, doorway.address, doorway.pdu)
    words = shlex.split(
        unit["Service"]["ExecStart"]
        .replace("%H", platform.node())
        .replace("/sys/fs/pstore", str(folder))
    )
    path = f"{programs}:/usr/bin:/bin"

    async def boot() -> int:
        process = await asyncio.create_subprocess_exec(
            *words, env={**script.environment, "PATH": path}
        )
        return await process.wait()

    (folder / "console-ramoops-0").write_text("a boot")
    assert await boot() == 0
    for number in (1, 2):
        (folder / f"dmesg-efi-{number}").write_text(f"Oops#{number}\n")
    assert [await boot(), await boot()] == [0, 0]

    dumps = recorded(doorway)
    assert [dump["data"] for dump in dumps] == ["Oops#1\n", "Oops#2\n"]
    assert {dump["subject"] for dump in dumps} == {f"node/{platform.node()}"}
    assert {dump["type"] for dump in dumps} == {"kernel.dump"}


class Ufm:
    """A fabric manager that has some events, as its documentation has it."""

    def __init__(self) -> None:
        self.events: list[Mapping[str, Any]] = []
        self.is_away = False
        self.was_missed = asyncio.Event()

    async def serve(self, request: Request) -> Response:
        assert request.headers["Authorization"].startswith("Basic ")
        if self.is_away:
            self.was_missed.set()
            return Response("bad gateway", 502)
        return Response(orjson.dumps(self.events))


async def test_the_script_beside_ufm_posts_each_event_once(
    doorway: Doorway, tmp_path: Path
) -> None:
    ufm, last = Ufm(), tmp_path / "last"
    ufm.events = list(UFM)
    found("jq")
    routes = [Route("/ufmRest/app/events", ufm.serve)]
    bound = bound_socket("127.0.0.1:0", setting="audit_listen")
    async with listening(Router(routes), bound, BOUNDS) as address:
        text = (SENDERS / "ufm.sh").read_text()
        for written, here in (
            ("https://ufm.example", f"http://{address}"),
            ("https://recorder.example:9471", doorway.address),
            (" --cacert /etc/recorder/ca.crt", ""),
            ("sleep 10", "sleep 0.05"),
        ):
            assert written in text
            text = text.replace(written, here)
        process = await asyncio.create_subprocess_exec(
            found("curl") and "/bin/sh",
            "-c",
            text,
            env={
                "PATH": "/usr/bin:/bin",
                "UFM_AUTH": "admin:password",
                "TOKEN": doorway.pdu,
                "LAST": str(last),
            },
            start_new_session=True,
        )
        try:
            await until_there(doorway, len(UFM))
            ufm.is_away = True
            again = {
                **UFM[0],
                "id": 99_000,
                "timestamp": "2026-11-25 09:00:00",
            }
            ufm.events = [*UFM, again]
            async with asyncio.timeout(FOREVER):
                await ufm.was_missed.wait()
            ufm.is_away = False
            await until_there(doorway, len(UFM) + 1)
        finally:
            process.kill()
            await process.wait()

    *_, newest = recorded(doorway)
    assert newest["time"] == "2026-11-25T08:00:00.000000Z"
    assert newest["data"]["id"] == 99_000
    assert len(recorded(doorway)) == len(UFM) + 1


async def test_the_request_by_hand_and_the_words_of_scripts_are_taken(
    doorway: Doorway, tmp_path: Path
) -> None:
    (tmp_path / "event.json").write_text(block("Post an event", "json"))
    request = block("Post an event").replace(" --cacert ca.crt", "")
    request = request.replace("https://recorder.example:9471", doorway.address)
    process = await asyncio.create_subprocess_exec(
        found("curl") and "/bin/sh", "-c", request, cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "TOKEN": doorway.pdu},
    )  # fmt: skip
    assert await process.wait() == 0
    script = Script(tmp_path, doorway.address, doorway.pdu)
    lines = [
        shlex.split(line)
        for line in re.findall(
            r"^recorder send (.*)$", SOURCES.read_text(), re.MULTILINE
        )
    ]
    for words in lines:
        assert await script.send(*words) == (0, ""), words
    posted, *sent = recorded(doorway)
    assert posted["id"] == "b3-0007"
    assert [(one["type"], one["subject"]) for one in sent] == [
        (words[0], words[1]) for words in lines
    ]
    assert len(sent) >= 4


def test_the_mapping_of_a_site_reads_its_objects(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(block("Objects of a site"))
    (convert,) = read_mappings([str(tmp_path / "site.toml")]).values()
    alarm = {
        "switch": {"name": "tor-3"},
        "port": 7,
        "oper": "down",
        "at": "2026-11-25 11:00:00",
    }
    (event,) = convert(orjson.dumps({"alarms": [alarm]}), None).events
    assert event["subject"] == "port/tor-3:7"
    assert event["data"] == {"state": "down", "port": "tor-3:7"}


def test_the_rules_of_a_site_are_read(tmp_path: Path) -> None:
    files = {
        name: block(heading, "yaml")
        for name, heading in (
            ("types.yaml", "Types"),
            ("places.yaml", "Places and what is behind them"),
        )
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    rules = load([tmp_path / name for name in files])
    for status, role in (("firing", "fault"), ("resolved", "recovery")):
        data = {"status": status, "labels": {"alertname": "CoolantLow"}}
        alert = Claimed("alert", "am", "node/gpu-1", data)
        found = rules.claimed(alert)
        assert found is not None
        assert found[1].role == role
    topology = Topology(rules.places)
    behind = topology.behind(Place.parse("domain/breaker:7"), LAST)
    assert {*map(str, behind)} >= {"pdu/b4", "rack/r1", "node/gpu-9"}


async def until_there(doorway: Doorway, count: int) -> None:
    async with asyncio.timeout(FOREVER):
        while len(doorway.claims()) < count:  # noqa: ASYNC110 - a script has no bell
            await asyncio.sleep(0.01)
