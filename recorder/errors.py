"""Every error this project raises on purpose.

One root and one branch for each party that can act: the operator
(`ConfigError`), the cluster (`ClusterError`), the log (`LogError`) and
whoever made an input file (`InputError`). Driver exceptions never cross a
package boundary; they are translated where they are caught and kept as
``__cause__``.

Whether to retry is a property of the type, not of the message: everything
under `Transient` may succeed unchanged later, nothing else may.
"""

from typing import ClassVar

__all__ = [
    "ClusterError",
    "ConfigError",
    "InputError",
    "LogError",
    "LogUnavailableError",
    "NotFoundError",
    "RecorderError",
    "StandingByError",
    "Transient",
    "UnknownStateError",
]


class RecorderError(Exception):
    """Something this project knows how to name."""

    code: ClassVar[str] = "internal"
    """Stable identifier, used in logs and on the command line."""

    exit_status: ClassVar[int] = 1
    """Process exit status when the error reaches the command line."""

    def __init__(self, message: str = "", *, advice: str = "") -> None:
        """Say what is wrong; the advice is in words of the command line."""
        super().__init__(message)
        self.advice = advice


class Transient(RecorderError):  # noqa: N818 - a trait, never raised itself
    """The same call may succeed later without anyone changing anything."""


class ConfigError(RecorderError):
    """A setting, flag or file of the operator's is wrong."""

    code = "config"
    exit_status = 2


class NotFoundError(RecorderError):
    """The log has no such cluster, node or object."""

    code = "not_found"
    exit_status = 5


class InputError(RecorderError):
    """An input file, a tape for example, cannot be read further."""

    code = "input"


class ClusterError(RecorderError):
    """The cluster refused something or cannot be reached."""

    code = "cluster"


class LogError(RecorderError):
    """The log in PostgreSQL refused something."""

    code = "log"


class LogUnavailableError(LogError, Transient):
    """PostgreSQL cannot be reached or cannot write at the moment."""

    code = "log.unavailable"


class StandingByError(LogError, Transient):
    """Another writer holds the lease of the log."""

    code = "log.standing_by"


class UnknownStateError(LogError):
    """What we hold in memory and what the log says disagree.

    Fatal: only a restart, which reads the truth again, can go on.
    """

    code = "log.unknown_state"
