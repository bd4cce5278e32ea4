"""Retention beside a recording: the command, by itself, once an hour."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from recorder.keeping.retention.policy import PolicyError
from recorder.model.settings import Settings
from recorder.wiring import beside
from recorder.wiring.beside import retained_beside
from recorder.wiring.live import LiveRecording
from recorder.wiring.reading import is_used
from tests.embedded.running import eventually, is_quiet, one_identity

SOON = timedelta(milliseconds=50)


async def until_used(settings: Settings) -> None:
    async with asyncio.timeout(60):
        while not is_used(settings):  # noqa: ASYNC110 - another process does
            await asyncio.sleep(0.1)


@one_identity
async def test_the_command_is_run_while_the_recorder_records(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "CHECK", SOON)
    monkeypatch.setattr(beside, "RETAIN_FIRST", SOON)
    settings = Settings(data_dir=place / "fresh")
    live = LiveRecording()
    said: list[str] = []

    async with retained_beside(settings, live, say=said.append):
        await until_used(settings)

    assert said == []
    eventually(lambda: is_quiet(place / "fresh"))
    budget = live.budget(1 << 30)
    assert budget is not None, "the disk bounds the database"


@one_identity
async def test_it_is_not_where_it_is_not_wanted(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "CHECK", SOON)
    monkeypatch.setattr(beside, "RETAIN_FIRST", SOON)
    settings = Settings(data_dir=place / "fresh", retention_enabled=False)
    async with retained_beside(settings, LiveRecording(), say=print):
        await asyncio.sleep(1)
    assert not is_used(settings)

    wrong = Settings(data_dir=place / "fresh", retention_unarchived="drop")
    with pytest.raises(PolicyError, match="contradict each other"):
        async with retained_beside(wrong, LiveRecording(), say=print):
            raise AssertionError
