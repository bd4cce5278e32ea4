"""Questions find the embedded server by themselves."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import DEMO

AWAY = "postgresql://recorder@127.0.0.1:1/recorder"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the user of PostgreSQL may pass through."""
    with tempfile.TemporaryDirectory(prefix="recorder-test-") as name:
        place = Path(name)
        place.chmod(0o755)
        yield place / "data"


def recorder(
    folder: Path, *words: str, **settings: str
) -> tuple[int, str, str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RECORDER_")
    }
    done = subprocess.run(
        [sys.executable, "-m", "recorder", *words],
        env={
            **environment,
            "KUBECONFIG": "/nonexistent",
            "RECORDER_DATA_DIR": str(folder),
            **settings,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_demo_can_be_asked_about(folder: Path) -> None:
    status, _, err = recorder(folder, "demo")
    assert status == 0, err

    status, out, err = recorder(folder, "status", "-o", "json")
    assert status == 0, err
    found = json.loads(out)
    assert found["database"]["embedded"] is True
    assert found["disk"]["path"] == str(folder)
    (cluster,) = found["clusters"]
    assert (cluster["name"], cluster["log"]["kind"]) == ("demo", "tape")

    asked = ("log", "--cluster", "demo", "--limit", "all", "-o", "ndjson")
    status, out, err = recorder(folder, *asked)
    assert status == 0, err
    entries = [json.loads(line)["entry"] for line in out.splitlines()]
    assert entries == [f"1/{n}" for n in range(1, cluster["log"]["size"] + 1)]

    status, out, err = recorder(folder, "log", "--reason", "Rebooted")
    assert status == 0, err
    assert "node/gpu-002" in out


def test_a_tape_is_played_into_the_folder_whatever_is_registered(
    folder: Path,
) -> None:
    registry = folder.with_name("clusters.toml")
    registry.write_text(f'[clusters]\na = "{AWAY}"\nb = "{AWAY}"\n')
    for words in (("tape", "play", str(DEMO)), ("demo", "--no-serve")):
        status, _, err = recorder(
            folder, *words, RECORDER_CLUSTERS_FILE=str(registry)
        )
        assert (status, 'log 1 of "demo"' in err) == (0, True), err
