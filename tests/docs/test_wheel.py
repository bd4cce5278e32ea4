"""The wheel works alone: a checkout hides what it forgot."""

import subprocess
import sys
from pathlib import Path

from tests.docs.blocks import ROOT

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
SOURCES = (
    "recorder",
    "api",
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
    "recorder/served/api/serving.py",
    "recorder/served/api/schema.graphql",
)
OTHER = "who = 'somebody else'"
"""A package called api that has nothing to do with ours."""

BOTH = """
import api
from recorder.wiring import serving
assert api.who == 'somebody else'
try:
    serving._served()
except serving.ServedError as refused:
    print('refused', refused.code)
"""
OURS = """
from recorder.wiring import serving
served = serving._served()
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
    _check_beside_another_api(tmp_path, site)


def _check_beside_another_api(folder: Path, site: Path) -> None:
    """Two packages of one name live in one installation."""
    assert not (site / "api").exists()
    (site / "api").mkdir()
    (site / "api/__init__.py").write_text(OTHER)

    def run(program: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            env={"PYTHONPATH": str(site), "HOME": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert "recorder/served/api" in run(OURS)
    assert run(BOTH) == "refused config.api\n"
