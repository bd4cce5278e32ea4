"""The units of systemd: valid, hardened, and of commands that exist."""

import re
import subprocess
from pathlib import Path

import pytest
from click import Context

from recorder.cli.main import main
from tests.support.programs import found

UNITS = sorted((Path(__file__).parents[2] / "deploy/systemd").iterdir())
CRONTAB = Path(__file__).parents[2] / "deploy/crontab"
DAILY = "verify --since 2d --archived --part 30"
SETTINGS = "/etc/recorder/environment"
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


def test_a_line_of_cron_passes_on_what_the_file_of_settings_says(
    tmp_path: Path,
) -> None:
    """The same file that systemd reads, which exports nothing by itself."""
    settings = tmp_path / "environment"
    settings.write_text("RECORDER_DATABASE_URL=postgresql://r@db/r\n")
    program = tmp_path / "recorder"
    program.write_text(
        '#!/bin/sh\necho "$* $RECORDER_DATABASE_URL $RECORDER_DATA_DIR'
        ' $RECORDER_RETENTION_ARCHIVE"\n'
    )
    program.chmod(0o755)
    text = CRONTAB.read_text()
    lines = re.findall(r"(?m)^[-\d* ]+ recorder +(.+)$", text)
    # Cron takes it as it is written, without any variable.
    path = re.search(r"(?m)^PATH=(/[-/:\w]+)$", text)
    assert path is not None
    assert "/usr/local/bin" in path[1].split(":")

    said = [
        subprocess.run(
            ["/bin/sh", "-c", line.replace(SETTINGS, str(settings))],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": path[1].replace("/usr/local/bin", str(tmp_path))},
        ).stdout
        for line in lines
    ]

    folder = "/var/lib/recorder"
    assert said == [
        f"prune postgresql://r@db/r {folder} {folder}/archive\n",
        f"{DAILY} postgresql://r@db/r {folder} \n",
        f"verify --archived postgresql://r@db/r {folder} \n",
    ]


def test_what_is_archived_outlives_the_service_that_archived_it() -> None:
    """Systemd removes a runtime folder when a service has done its work."""
    (unit,) = (unit for unit in SERVICES if "retention" in unit.name)
    folder = re.search(r"(?m)^Environment=RECORDER_DATA_DIR=(.+)$",
                       unit.read_text())  # fmt: skip
    assert folder is not None
    assert f"RETENTION_ARCHIVE={folder[1]}/" in unit.read_text()
    kept = re.findall(r"(?m)^StateDirectory=(.+)$", unit.read_text())
    assert folder[1] in {f"/var/lib/{name}" for name in kept}
