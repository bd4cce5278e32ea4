"""Data folders for the tests of the embedded server.

Creating a cluster takes most of a second, so each identity creates one, and
a test gets a copy. After every test it is checked that nothing of it is left.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedded.running import (
    IDENTITIES,
    Command,
    end_all,
    eventually,
    fast_base,
    is_quiet,
    opened_programs,
    owner_of,
)

collect_ignore = [] if os.geteuid() == 0 else ["test_as_root.py"]


@pytest.fixture(params=IDENTITIES)
def identity(request: pytest.FixtureRequest) -> str:
    """Who runs the commands of a test."""
    return str(request.param)


@pytest.fixture
def place(identity: str) -> Iterator[Path]:
    """A folder for data folders that the identity may write to."""
    with tempfile.TemporaryDirectory(
        prefix="recorder-test-", dir=fast_base()
    ) as name:
        path = Path(name)
        path.chmod(0o755)
        os.chown(path, *owner_of(identity))
        yield path


@pytest.fixture(scope="session", autouse=True)
def programs() -> Iterator[None]:
    """What a command needs that another user runs."""
    with opened_programs():
        yield


@pytest.fixture(scope="session")
def seeds() -> Iterator[dict[str, Path]]:
    """One stopped data folder per identity, made when first needed."""
    found: dict[str, Path] = {}
    yield found
    for path in found.values():
        shutil.rmtree(path.parent)


@pytest.fixture
def empty_folder(place: Path) -> Iterator[Path]:
    """A data folder that is yet to be made."""
    folder = place / "data"
    try:
        yield folder
        eventually(lambda: is_quiet(folder))
    finally:
        end_all(folder)


@pytest.fixture
def folder(identity: str, empty_folder: Path, seeds: dict[str, Path]) -> Path:
    """A data folder whose server was stopped cleanly."""
    if identity not in seeds:
        seeds[identity] = _make_seed(identity)
    subprocess.run(["cp", "-a", seeds[identity], empty_folder], check=True)
    return empty_folder


def _make_seed(identity: str) -> Path:
    place = Path(tempfile.mkdtemp(prefix="recorder-test-", dir=fast_base()))
    place.chmod(0o755)
    os.chown(place, *owner_of(identity))
    command = Command(place / "data", identity=identity)
    command.dsn()
    command.close()
    eventually(lambda: is_quiet(place / "data"))
    return place / "data"
