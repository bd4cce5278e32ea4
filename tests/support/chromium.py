"""Chromium for tests: Debian's, through apt or by name.

Best without the windows and menus that are never seen: a tab of the headless
shell takes less than half of the processor time. ``python -m
tests.support.chromium`` installs that where it is possible, so that a first
test need not wait for it; a whole Chromium does as well.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["ARGUMENTS", "chromium"]

_VARIABLE = "RECORDER_TEST_CHROMIUM"
_SHELL = Path("/usr/bin/chromium-headless-shell")
_DEBIAN = (_SHELL, Path("/usr/bin/chromium"))
_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")
_PACKAGES = ("chromium-headless-shell", "fonts-dejavu-core")

ARGUMENTS = ("--no-sandbox", "--disable-gpu")
"""As root there is no sandbox; the pages are our own."""


def chromium() -> Path:
    """Find Chromium, installing it where that is possible."""
    program = Path(os.environ.get(_VARIABLE) or _debian())
    if not program.exists():
        pytest.fail(
            f'the tests need Chromium: "{program}" does not exist; run:'
            f" sudo {' '.join(_INSTALL)} {' '.join(_PACKAGES)} (or set"
            f" {_VARIABLE} to the program)",
            pytrace=False,
        )
    return program


def _debian() -> Path:
    if not any(program.exists() for program in _DEBIAN):
        _install()
    return next((one for one in _DEBIAN if one.exists()), _SHELL)


def _install() -> None:
    if os.geteuid() != 0 or shutil.which(_INSTALL[0]) is None:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in ([_INSTALL[0], "update"], [*_INSTALL, *_PACKAGES]):
        sys.stderr.write(f"{' '.join(words)}\n")
        subprocess.run(words, env=environment, stdout=2, check=False)


if __name__ == "__main__":
    if _VARIABLE not in os.environ and not _SHELL.exists():
        _install()
    print(chromium())
