"""Threads that decode find every type described."""

import asyncio
from pathlib import Path
from threading import Thread, get_ident
from typing import Any, Self, cast

import msgspec
import pytest

from api.ports import Logs
from api.resolvers.workers import WORKERS, Workers
from recorder.model.decoding import prepare_decoding
from recorder.model.errors import StandingByError
from recorder.model.settings import Settings
from recorder.sources.watch.client import ClusterClient, ClusterIdentity
from recorder.wiring import recording
from recorder.wiring.live import LiveRecording

DESCRIBED: dict[str, list[int]] = {}
"""The threads in which each type was described."""


def described(name: str) -> type[int]:
    DESCRIBED.setdefault(name, []).append(get_ident())
    return int


def noticed(name: str) -> type[msgspec.Struct]:
    """Make a type whose description by msgspec is noticed."""
    number: Any = f"described({name!r})"
    return msgspec.defstruct(name, [("number", number)], module=__name__)


def test_what_threads_convert_is_described_before() -> None:
    """Else two threads might describe it at once, which ends the process."""
    converted = noticed("Converted")
    prepare_decoding()
    found: list[msgspec.Struct] = []

    def convert() -> None:
        found.append(msgspec.convert({"number": 1}, converted))

    thread = Thread(target=convert)
    thread.start()
    thread.join()

    assert found == [converted(1)]
    assert DESCRIBED["Converted"] == [get_ident()]


class NoLogs:
    """Logs that note what is described when a worker is to be started."""

    def __init__(self) -> None:
        self.described: list[bool] = []

    def beside(self, **_: object) -> Self:
        self.described.append("Answered" in DESCRIBED)
        return self

    async def close(self) -> None:
        """Close nothing."""


async def test_types_are_described_before_threads_that_answer() -> None:
    answered = noticed("Answered")
    logs = NoLogs()
    async with Workers(cast("Logs", logs)).running():
        pass
    assert logs.described == [True] * WORKERS
    assert DESCRIBED["Answered"] == [get_ident()], answered


async def test_types_are_described_before_a_cluster_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = noticed("Recorded")
    live = LiveRecording(identity=ClusterIdentity("uid-c", "c", "v1.33.1"))
    begun: list[bool] = []

    def begin(*_: object, **__: object) -> None:
        begun.append("Recorded" in DESCRIBED)
        live.stop.set()
        raise StandingByError

    monkeypatch.setattr(recording, "calm_collector", lambda: None)
    monkeypatch.setattr(recording, "Writer", begin)
    settings = Settings(data_dir=tmp_path)
    client = cast("ClusterClient", None)
    async with asyncio.timeout(10):
        await recording.record_cluster(settings, "", live, client=client)
    assert begun == [True]
    assert DESCRIBED["Recorded"] == [get_ident()], recorded
