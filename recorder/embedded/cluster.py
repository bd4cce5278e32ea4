"""The cluster on disk: creating it, configuring it, recognizing it.

A new cluster is created under another name and renamed when it is complete, so
a folder called ``postgres`` is always complete. Its configuration is rewritten
before each start; an operator's own settings go into ``local.conf`` beside it.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from recorder.embedded.binaries import MAJOR_VERSION
from recorder.embedded.errors import (
    DataFolderError,
    EmbeddedError,
    ForeignVersionError,
)
from recorder.embedded.folder import DataFolder, translate_os_errors
from recorder.embedded.installation import Installation
from recorder.embedded.passwords import SUPERUSER

SETTINGS: Mapping[str, str] = {
    # One setting per line: it is written, quoted, as postgresql.conf.
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "password_encryption": "scram-sha-256",
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "256MB",
    # Checkpoints far apart: the log is appended to, and full page images after
    # each checkpoint would double what is written.
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    # Payloads are already compressed.
    "wal_compression": "off",
    # In a container without an allowance of its own they end in SIGBUS.
    "huge_pages": "off",
    # A container's /dev/shm has 64 MB, too little for a parallel query.
    "dynamic_shared_memory_type": (
        "sysv" if sys.platform == "linux" else "posix"
    ),
    "jit": "off",
    # A query over many daily partitions locks each with its indices.
    "max_locks_per_transaction": "256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "log_startup_progress_interval": "1s",
}
"""Our settings for every embedded server."""

_CREATE_SECONDS = 300.0
_SINGLE_USER_SECONDS = 3600.0
"""It may have to recover first."""


def create_cluster(site: Installation) -> None:
    """Create it; a crash leaves nothing that prevents the next attempt.

    Raises:
        EmbeddedError: initdb failed.
    """
    folder = site.folder
    fresh = folder.cluster.with_name("postgres.new")
    with translate_os_errors("create a PostgreSQL cluster in", folder.path):
        if fresh.exists():
            shutil.rmtree(fresh)
        fresh.mkdir(mode=0o700)
        site.account.own(fresh)
        child = site.processes.start(
            [
                site.binaries.program("initdb"),
                f"--pgdata={fresh}",
                f"--username={SUPERUSER}",
                "--auth=reject",
                "--encoding=UTF8",
                # Not the machine's collation: its library may change under an
                # index, and order must not depend on the machine.
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--data-checksums",
                "--no-instructions",
            ],
            death_signal=signal.SIGTERM,
        )
        status = child.wait(timeout=_CREATE_SECONDS)
        if status != 0:
            msg = (
                f'cannot create a PostgreSQL cluster in "{folder.path}":'
                f' initdb ended with status {status}, see "{folder.log}"'
            )
            raise EmbeddedError(msg)
        fresh.rename(folder.cluster)
        _sync_folder(folder.path)


def check_version(folder: DataFolder) -> None:
    """Check that our programs can run the cluster.

    Raises:
        ForeignVersionError: it belongs to another major version.
        DataFolderError: it is not a cluster.
    """
    mark = folder.cluster / "PG_VERSION"
    try:
        found = mark.read_text().strip()
    except OSError as exc:
        msg = (
            f'cannot use "{folder.cluster}": "{mark}" cannot be read'
            f" ({exc.strerror}), so it is not a PostgreSQL data folder;"
            " restore it from a backup, or move it away to start a new log"
        )
        raise DataFolderError(msg) from exc
    if found != str(MAJOR_VERSION):
        msg = (
            f'cannot use "{folder.cluster}": it was made by PostgreSQL'
            f" {found}, and the embedded one is PostgreSQL {MAJOR_VERSION};"
            " the data is untouched: keep the folder and name a PostgreSQL"
            f" {found} server on it with RECORDER_DATABASE_URL, or dump it"
            f" with PostgreSQL {found} and restore the dump into a new"
            " folder"
        )
        raise ForeignVersionError(msg)


def write_configuration(
    site: Installation, settings: Mapping[str, str]
) -> None:
    """Write the server's configuration and its access rules."""
    cluster = site.folder.cluster
    lines = [
        "# Written before each start. Put settings into local.conf.",
        *(f"{name} = {_quoted(value)}" for name, value in settings.items()),
    ]
    rules = [
        "# Written before each start. A password is always required.",
        "local all all scram-sha-256",
    ]
    if (cluster / "local.conf").exists():
        lines.append("include 'local.conf'")
    with translate_os_errors("configure PostgreSQL in", cluster):
        for name, text in (("postgresql.conf", lines), ("pg_hba.conf", rules)):
            fresh = cluster / f"{name}.new"
            fresh.write_text("\n".join(text) + "\n")
            fresh.chmod(0o600)
            site.account.own(fresh)
            fresh.replace(cluster / name)


def set_superuser_password(site: Installation, password: str) -> None:
    """Set it without logging in: in single-user mode.

    Raises:
        EmbeddedError: it could not be set.
    """
    command = [
        site.binaries.program("postgres"),
        "--single",
        "-D",
        str(site.folder.cluster),
        "-c",
        "exit_on_error=true",
        "postgres",
    ]
    statement = f"ALTER ROLE {SUPERUSER} PASSWORD '{password}'\n"
    child = site.processes.start(
        command, death_signal=signal.SIGTERM, stdin=subprocess.PIPE
    )
    child.communicate(statement.encode(), timeout=_SINGLE_USER_SECONDS)
    if child.returncode != 0:
        msg = (
            f'cannot set the passwords of PostgreSQL in "{site.folder.path}":'
            f' see "{site.folder.log}"'
        )
        raise EmbeddedError(msg)


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
