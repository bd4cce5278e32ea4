"""The wheel works alone: a checkout hides what it forgot."""

import subprocess
import sys
from pathlib import Path

from tests.docs.blocks import ROOT

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
SOURCES = (
    "recorder",
    "migrations",
    "deploy",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
CARRIED = (
    "recorder/demo/demo.tape.jsonl.zst",
    "recorder/embedded/roles.sql",
    "recorder/store/migrations/env.py",
    "recorder/store/dictionaries/event.zdict",
)


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
    printed = subprocess.run(
        [sys.executable, "-m", "recorder", "migrate", "--sql"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(site), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "create role" in printed.stdout
    assert "create table entry" in printed.stdout.lower()
