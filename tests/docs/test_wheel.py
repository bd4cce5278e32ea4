"""The wheel works alone: a checkout hides what it forgot."""

import subprocess
import sys
from pathlib import Path

from tests.docs.blocks import ROOT

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
SOURCES = (
    "recorder",
    "api",
    "bench",
    "migrations",
    "deploy",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
CARRIED = (
    "recorder/sources/tape/demo/demo.tape.jsonl.zst",
    "recorder/embedded/roles.sql",
    "recorder/store/migrations/env.py",
    "recorder/store/dictionaries/event.zdict",
    "api/serving.py",
    "api/schema.graphql",
    "api/static/assets/page.js",
)
SERVED = """
import sys
before = list(sys.path)
from recorder.wiring import serving
from api import serving as served
assert serving.listening is served.listening
assert sys.path == before
print(served.__file__)
"""


def test_the_wheel_carries_what_it_needs(tmp_path: Path) -> None:
    source, site = tmp_path / "source", tmp_path / "site"
    # From a copy, so that a build beside this one is not disturbed.
    source.mkdir()
    for name in SOURCES:
        subprocess.run(["cp", "-r", str(ROOT / name), source], check=True)
    subprocess.run(
        [*PIP, "install", "--no-deps", "--no-build-isolation", "--target",
         site, source],
        check=True,
    )  # fmt: skip

    for name in CARRIED:
        assert (site / name).is_file(), name
    assert not (site / "api/page").exists()
    assert not (site / "bench").exists()
    printed = run_in(tmp_path, site, "-m", "recorder", "migrate", "--sql")
    assert "create role" in printed
    assert "create table entry" in printed.lower()
    assert run_in(tmp_path, site, "-c", SERVED).strip() == str(
        site / "api/serving.py"
    )


def run_in(folder: Path, site: Path, *words: str) -> str:
    """Run Python in a folder with nothing of ours but what is installed."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={"PYTHONPATH": str(site), "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
