"""Chromium for tests: Debian's, through apt or by name.

Best without the windows and menus that are never seen: a tab of the headless
shell takes less than half of the processor time. ``python -m
tests.support.chromium`` installs that where it is possible, so that a first
test need not wait for it; a whole Chromium does as well.
"""

import os
from pathlib import Path

import pytest

from tests.support.programs import INSTALL, install

__all__ = ["ARGUMENTS", "chromium"]

_VARIABLE = "RECORDER_TEST_CHROMIUM"
_SHELL = Path("/usr/bin/chromium-headless-shell")
_DEBIAN = (_SHELL, Path("/usr/bin/chromium"))
_PACKAGES = "chromium-headless-shell fonts-dejavu-core"

ARGUMENTS = ("--no-sandbox", "--disable-gpu")
"""As root there is no sandbox; the pages are our own."""


def chromium() -> Path:
    """Find Chromium, installing it where that is possible."""
    program = Path(os.environ.get(_VARIABLE) or _debian())
    if not program.exists():
        pytest.fail(
            f'the tests need Chromium: "{program}" does not exist; run:'
            f" sudo {' '.join(INSTALL)} {_PACKAGES} (or set"
            f" {_VARIABLE} to the program)",
            pytrace=False,
        )
    return program


def _debian() -> Path:
    if not any(program.exists() for program in _DEBIAN):
        install(_PACKAGES)
    return next((one for one in _DEBIAN if one.exists()), _SHELL)


if __name__ == "__main__":
    if _VARIABLE not in os.environ and not _SHELL.exists():
        install(_PACKAGES)
    print(chromium())
