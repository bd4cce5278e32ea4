"""What can go wrong with a request to the cluster, one type per fate.

aiohttp, ssl and kubernetes_asyncio raise dozens of types for these; they are
translated once, in `transport` and `credentials`, and nowhere else. Each
message is one line that names the cluster, what was asked and what is
missing, so that it can be shown to an operator as it is.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from recorder.errors import ClusterError, ConfigError, Transient

__all__ = [
    "Asked",
    "BadAnswerError",
    "CertificateError",
    "ExpiredError",
    "ForbiddenError",
    "KubeconfigError",
    "MissingError",
    "RequestError",
    "ServerError",
    "StreamLostError",
    "ThrottledError",
    "TooLargeError",
    "UnauthorizedError",
    "UnreachableError",
    "WrongClusterError",
    "error_for",
]

_OLDEST = re.compile(r"too old resource version: \d{1,19} \((\d{1,19})\)")

_EXCERPT = 300
"""Characters of a server's message that are repeated; Kubernetes' own
sentences are shorter, a proxy's error page is not."""


class KubeconfigError(ConfigError):
    """The kubeconfig, or what it refers to, cannot be used."""

    code = "config.kubeconfig"


class WrongClusterError(ClusterError):
    """Another cluster answers than the one that this log holds.

    Fatal: to go on would mix two histories in one log.
    """

    code = "cluster.wrong"


class RequestError(ClusterError):
    """A request to the cluster failed."""

    status: ClassVar[int] = 0
    """The HTTP status that observations tell; 0 is no answer at all."""

    @property
    def told_status(self) -> int:
        """The status to tell; more exact than the type where it varies."""
        return self.status


class UnreachableError(RequestError, Transient):
    """Nothing answered, or not in time."""

    code = "cluster.unreachable"


class StreamLostError(UnreachableError):
    """A connection broke while its answer was being read."""

    code = "cluster.stream_lost"


class CertificateError(RequestError, Transient):
    """The server's certificate, or ours, was not accepted.

    Retried, because the authority's file may be rotated under us.
    """

    code = "cluster.certificate"


class UnauthorizedError(RequestError, Transient):
    """The credentials are not valid, or no longer."""

    code = "cluster.unauthorized"
    status = 401


class ForbiddenError(RequestError):
    """The credentials are valid and lack a right."""

    code = "cluster.forbidden"
    status = 403


class MissingError(RequestError):
    """The object does not exist or the resource is not served."""

    code = "cluster.missing"
    status = 404


class ExpiredError(RequestError):
    """The server no longer holds the version that we asked for."""

    code = "cluster.expired"
    status = 410

    @property
    def oldest(self) -> str | None:
        """The version from which it says that it can watch, if it does.

        Only its message has it: ``too old resource version: 529 (561)``.
        Whoever uses it must do without, and find out whether it is true.
        """
        found = _OLDEST.search(str(self))
        return found and found[1]


class ThrottledError(RequestError, Transient):
    """The server asks us to come back later."""

    code = "cluster.throttled"
    status = 429

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ServerError(RequestError, Transient):
    """The server failed by its own account."""

    code = "cluster.server"
    status = 500

    def __init__(self, message: str, answered: int = 500) -> None:
        super().__init__(message)
        self._answered = answered

    @property
    def told_status(self) -> int:
        """The status that the server gave."""
        return self._answered


class BadAnswerError(ServerError):
    """Something answered that does not speak the Kubernetes API."""

    code = "cluster.bad_answer"


class TooLargeError(RequestError):
    """An answer exceeded its bound; ``head`` is how it began."""

    code = "cluster.too_large"

    def __init__(
        self, message: str, *, head: bytes, sha256: str, length: int
    ) -> None:
        super().__init__(message)
        self.head = head
        self.sha256 = sha256
        self.length = length


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request was for, in the words of RBAC, for its messages."""

    cluster: str
    verb: str
    what: str
    """A resource, an object, or a path."""

    def __str__(self) -> str:
        """Return ``list v1/pods of cluster "x"``."""
        return f'{self.verb} {self.what} of cluster "{self.cluster}"'


class _Details(msgspec.Struct):
    retryAfterSeconds: float = 0.0  # noqa: N815 - the API's own name


class _Status(msgspec.Struct):
    message: str = ""
    details: _Details | None = None


_STATUS = msgspec.json.Decoder(_Status)


_REFUSALS: dict[int, tuple[type[RequestError], str]] = {
    401: (UnauthorizedError, "the credentials were not accepted"),
    404: (MissingError, "not found"),
    410: (ExpiredError, "the resource version has expired"),
}


def error_for(
    asked: Asked, status: int, body: bytes, *, retry_after: str | None = None
) -> RequestError:
    """Return the error for an answer that is not a success."""
    said, delay = _read_status(body)
    tail = f"({status}: {said})" if said else f"({status})"
    if status in _REFUSALS:
        refusal, why = _REFUSALS[status]
        return refusal(f"cannot {asked}: {why} {tail}")
    if status == ForbiddenError.status:
        right = f'permission "{asked.verb}" on "{asked.what}" is missing'
        return ForbiddenError(f"cannot {asked}: {right} {tail}")
    if status == ThrottledError.status:
        message = f"cannot {asked}: the server asked to retry later {tail}"
        return ThrottledError(message, _seconds(retry_after) or delay)
    if status >= ServerError.status:
        return ServerError(f"cannot {asked}: the server failed {tail}", status)
    return BadAnswerError(
        f"cannot {asked}: unexpected response {tail}", status
    )


def _read_status(body: bytes) -> tuple[str, float]:
    try:
        read = _STATUS.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text, delay = body.decode(errors="replace"), 0.0
    else:
        text = read.message
        delay = read.details.retryAfterSeconds if read.details else 0.0
    return " ".join(text.split())[:_EXCERPT], delay


def _seconds(text: str | None) -> float:
    """Read a ``Retry-After`` in seconds; its date form is not used here."""
    return float(text) if text and text.isdecimal() else 0.0
