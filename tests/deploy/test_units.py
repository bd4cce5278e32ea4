"""The units of systemd: valid, hardened, and of commands that exist."""

import re
import subprocess
from pathlib import Path

import pytest
from click import Context

from recorder.cli.main import main
from tests.support.programs import found

UNITS = sorted((Path(__file__).parents[2] / "deploy/systemd").iterdir())
SERVICES = [unit for unit in UNITS if unit.suffix == ".service"]


def test_systemd_finds_nothing_wrong() -> None:
    done = subprocess.run(
        [found("systemd-analyze"), "verify", *UNITS],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_a_service_is_exposed_to_little(unit: Path) -> None:
    """By the measure of systemd itself; without hardening it is 9."""
    done = subprocess.run(
        [found("systemd-analyze"), "security", "--offline=true",
         "--threshold=25", unit],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-200:] + done.stderr


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_a_service_runs_a_command_that_exists(unit: Path) -> None:
    command = re.search(r"(?m)^ExecStart=\S+ recorder (\w+)", unit.read_text())
    assert command is not None
    assert command[1] in main.list_commands(Context(main))
