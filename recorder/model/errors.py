"""Every error this project raises on purpose.

One root and one branch for each party that can act: the operator
(`ConfigError`), the cluster (`ClusterError`), the log (`LogError`) and the
author of an input file (`InputError`). Driver exceptions never cross a package
boundary; they are translated where they are caught and kept as ``__cause__``.

Whether to retry is a property of the type, not of the message: everything
under `Transient` may succeed unchanged later, nothing else may.
"""

from typing import ClassVar


class RecorderError(Exception):
    """The root of all errors that this project raises."""

    code: str = "internal"
    """Stable identifier, used in logs and on the command line."""

    exit_status: ClassVar[int] = 1
    """Process exit status when the error reaches the command line."""

    def __init__(
        self, message: str = "", *, advice: str = "", code: str = ""
    ) -> None:
        """Set the message; the advice names commands of the command line.

        A code replaces that of the type, so that an error that is never caught
        needs no type of its own.
        """
        super().__init__(message)
        self.advice = advice
        self.code = code or self.code


class Transient(RecorderError):  # noqa: N818 - a trait, never raised itself
    """The same call may succeed later without any change."""


class ConfigError(RecorderError):
    """A setting, flag or file of the operator is wrong."""

    code = "config"
    exit_status = 2


class NotFoundError(RecorderError):
    """The log has no such cluster, node or object."""

    code = "not_found"
    exit_status = 5

    def __init__(
        self,
        message: str = "",
        *,
        advice: str = "",
        code: str = "",
        node: str = "",
    ) -> None:
        """Set the message, and the node, which another log may have."""
        super().__init__(message, advice=advice, code=code)
        self.node = node


class InputError(RecorderError):
    """An input file, such as a tape, cannot be read further."""

    code = "input"


class ClusterError(RecorderError):
    """The cluster rejected a request or cannot be reached."""

    code = "cluster"


class LogError(RecorderError):
    """The log in PostgreSQL rejected a request."""

    code = "log"


class LogUnavailableError(LogError, Transient):
    """PostgreSQL cannot be reached or cannot write at the moment."""

    code = "log.unavailable"


class StandingByError(LogError, Transient):
    """Another writer holds the lease of the log."""

    code = "log.standing_by"


class UnknownStateError(LogError):
    """Our memory and the log disagree.

    Fatal: only a restart, which reads the log again, can continue.
    """

    code = "log.unknown_state"
