"""The errors of the embedded PostgreSQL.

Every message states what could not be done, the name of the thing and the next
step. The supervisor is another process, so its errors travel through the state
file as a code and a message; `from_code` makes them errors again.
"""

from recorder.model.errors import ConfigError, LogError, LogUnavailableError


class EmbeddedError(LogError):
    """The embedded PostgreSQL cannot be used."""

    code = "embedded"


class BinariesError(EmbeddedError):
    """PostgreSQL's programs are missing or do not run here."""

    code = "embedded.binaries"


class OsUserError(EmbeddedError):
    """No operating system user can run PostgreSQL."""

    code = "embedded.os_user"


class DataFolderError(EmbeddedError, ConfigError):
    """The data folder cannot be used as it is."""

    code = "embedded.data_folder"
    exit_status = 1


class ForeignVersionError(EmbeddedError):
    """The data belongs to another major version of PostgreSQL."""

    code = "embedded.foreign_version"


class DiskFullError(EmbeddedError, LogUnavailableError):
    """There is not enough space for PostgreSQL to start."""

    code = "embedded.disk_full"


class StartTimeoutError(EmbeddedError, LogUnavailableError):
    """PostgreSQL is still starting; the same call may succeed later."""

    code = "embedded.start_timeout"


class AlreadyRecordingError(EmbeddedError):
    """Another process records into this folder."""

    code = "embedded.already_recording"


_BY_CODE = {
    kind.code: kind
    for kind in (
        BinariesError,
        OsUserError,
        DataFolderError,
        ForeignVersionError,
        DiskFullError,
    )
}


def from_code(code: str, message: str) -> EmbeddedError:
    """Rebuild an error of another process."""
    return _BY_CODE.get(code, EmbeddedError)(message)
