"""The image: what its Containerfile says, and what runs in it."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.deploy.containerfile import CONTAINERFILE, Image, instructions
from tests.deploy.rootfs import RootFs

TREE = Path(__file__).parents[2]
TEXT = CONTAINERFILE.read_text()


def in_image(
    rootfs: RootFs, data: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    image = Image.read()
    scratch = data.with_name(f"{data.name}-scratch")
    for folder in (data, scratch):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
    command = rootfs.command(
        words,
        user=image.user,
        environment=image.environment,
        mounts={"/data": (data, True), "/tmp": (scratch, True)},
    )
    return subprocess.run(command, capture_output=True, text=True, check=False)


def hadolint(file: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("hadolint", path=Path(sys.executable).parent)
    assert program is not None, "run: make .venv/.dev"
    return subprocess.run(
        [program, file], capture_output=True, text=True, check=False
    )


def test_the_linter_finds_nothing(tmp_path: Path) -> None:
    assert hadolint(CONTAINERFILE).stdout == ""

    worse = tmp_path / "Containerfile"
    worse.write_text(f"{TEXT}\nRUN cd /data && pip install requests\n")
    assert "DL3013" in hadolint(worse).stdout


def test_everything_in_it_is_pinned() -> None:
    """The base by its digest, and each package by its hash."""
    said = list(instructions(TEXT))
    bases = [words for name, words in said if name == "ARG"]
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", base) for base in bases)
    stages = [words.split()[0] for name, words in said if name == "FROM"]
    assert stages == ["${BASE}", "${BASE}"]
    installs = re.findall(r"pip install.*", TEXT.replace("\\\n", ""))
    locked, own = installs
    assert "--require-hashes" in locked
    assert "requirements/image.txt" in locked
    assert "--no-deps" in own
    assert "--no-build-isolation" in own
    assert "apt" not in TEXT


def test_its_packages_are_those_that_the_tests_run_with() -> None:
    def pinned(name: str) -> set[str]:
        text = (TREE / f"requirements/{name}.txt").read_text()
        return set(
            re.findall(
                r"^[a-zA-Z0-9_.-]+(?:\[\w+\])?==\S+", text, re.MULTILINE
            )
        )

    assert pinned("run") < pinned("image") < pinned("test")


def test_what_it_copies_is_what_the_wheel_is_made_of() -> None:
    """And the ignore file lets all of it, and nothing else, through."""
    copied = {
        source
        for name, words in instructions(TEXT)
        if name == "COPY" and not words.startswith("--from")
        for source in words.split()[:-1]
    }
    let_through = {
        line.removeprefix("!")
        for line in (TREE / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    assert copied == let_through
    project = tomllib.loads((TREE / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*wheel["packages"], *wheel["force-include"], "pyproject.toml"}
    assert all(
        any(Path(name).is_relative_to(source) for source in copied)
        for name in needed
    )


def test_its_user_has_no_rights_and_its_root_is_read_only(
    rootfs: RootFs, tmp_path: Path
) -> None:
    shown = in_image(
        rootfs, tmp_path, "sh", "-c",
        "id -u; id -g; id -G; grep CapBnd /proc/self/status;"
        " touch /opt/x /etc/x /tmp/x; touch /data/x && echo written",
    )  # fmt: skip

    uid, gid, groups, capabilities, *rest = shown.stdout.split("\n")
    assert [uid, gid, groups] == ["10001", "10001", "10001"]
    assert capabilities.split()[-1] == "0000000000000000"
    assert rest[0] == "written"
    assert shown.stderr.count("Read-only file system") == 2


@pytest.mark.parametrize(
    "words",
    [["--version"], ["record", "--help"], ["serve", "--help"],
     ["archive", "--help"], ["prune", "--help"], ["verify", "--help"],
     ["migrate", "--sql"]],
)  # fmt: skip
def test_it_has_both_roles_and_what_cron_jobs_run(
    rootfs: RootFs, tmp_path: Path, words: list[str]
) -> None:
    image = Image.read()
    done = in_image(rootfs, tmp_path, *image.entrypoint, *words)

    assert done.returncode == 0, done.stderr
    assert image.entrypoint == ["recorder"]
    assert image.command == ["record"]


def test_the_demo_plays_in_it(rootfs: RootFs, tmp_path: Path) -> None:
    """PostgreSQL starts in /data, as the user of the image."""
    done = in_image(rootfs, tmp_path, "recorder", "demo", "--no-serve")

    assert done.returncode == 0, done.stderr
    assert "604 entries added" in done.stderr
