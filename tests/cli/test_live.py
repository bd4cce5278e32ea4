"""What a person sees of a recording while it runs."""

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from recorder.cli import live as showing
from recorder.cli import recording
from recorder.cli.live import show_progress
from recorder.cli.screen import Screen
from recorder.intake.state import ResumePoint, StreamState
from recorder.wiring.beside import Beside
from recorder.wiring.live import LiveRecording
from tests.support.builders import at

REACHED = datetime(2026, 11, 24, 3, 12, tzinfo=UTC)


@pytest.mark.parametrize("recovered", [0, 1234])
async def test_a_first_start_says_how_far_back_it_could_reach(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    recovered: int,
) -> None:
    monkeypatch.setattr(showing, "TICK_SECONDS", 0.01)
    live = LiveRecording()
    live.progress.streams["watch", "v1/nodes"] = ResumePoint(
        state=StreamState.LIVE, began_at=at()
    )
    walks = SimpleNamespace(recovered=recovered, reached=REACHED)
    live.watch = SimpleNamespace(walks=walks)  # type: ignore[assignment]

    said = ""
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(show_progress(live, Screen()))
        while "watching 1 resources" not in said:
            await asyncio.sleep(0.01)
            said += capsys.readouterr().err
        task.cancel()

    read = "read 1,234 earlier versions from the cluster's own history, back"
    assert (f"{read} to 2026-11-24T03:12:00Z" in said) == (recovered > 0)


async def test_what_is_recorded_is_said_before_the_page_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = await asyncio.create_subprocess_exec(
        "sh", "-c", "read go; echo http://localhost:8414; exec cat",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert page.stdin is not None
    live = LiveRecording()
    rows = [("cluster", "prod, Kubernetes v1.35"), ("writes to", "its own")]
    said = ""
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(
            recording._show(live, Screen(), Beside(page), rows)
        )
        while "log --follow" not in said:
            await asyncio.sleep(0.01)
            said += capsys.readouterr().err
        assert "  cluster    prod, Kubernetes v1.35" in said
        assert "  page " not in said

        page.stdin.write(b"go\n")
        while "  page       http://localhost:8414" not in said:
            await asyncio.sleep(0.01)
            said += capsys.readouterr().err
        task.cancel()
    page.kill()
    await page.wait()
