"""The errors of requests to the cluster, one type for each way to handle them.

aiohttp, ssl and kubernetes_asyncio raise dozens of types for these; they are
translated once, in `transport` and `credentials`, and nowhere else. Each
message is one line that names the cluster, the request and what is missing,
and can be shown to an operator as it is.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from recorder.model.errors import ClusterError, ConfigError, Transient

_OLDEST = re.compile(r"too old resource version: \d{1,19} \((\d{1,19})\)")

_EXCERPT = 300
"""Characters of a server's message that are repeated; Kubernetes' own messages
are shorter, a proxy's error page is longer."""


class KubeconfigError(ConfigError):
    """The kubeconfig, or what it refers to, cannot be used."""

    code = "config.kubeconfig"


class WrongClusterError(ClusterError):
    """Another cluster responds than the one that this log records.

    Fatal: continuing would mix two histories in one log.
    """

    code = "cluster.wrong"


class RequestError(ClusterError):
    """A request to the cluster failed."""

    status: ClassVar[int] = 0
    """The HTTP status in observations; 0 if there was no response."""

    @property
    def reported_status(self) -> int:
        """The status to report; more exact than the type where it varies."""
        return self.status


class UnreachableError(RequestError, Transient):
    """There was no response, or not in time."""

    code = "cluster.unreachable"


class StreamLostError(UnreachableError):
    """A connection broke while its response was being read."""

    code = "cluster.stream_lost"


class CertificateError(RequestError, Transient):
    """The server's certificate, or ours, was rejected.

    Retried, because the file of the authority may just be rotating.
    """

    code = "cluster.certificate"


class UnauthorizedError(RequestError, Transient):
    """The credentials are not valid, or have expired."""

    code = "cluster.unauthorized"
    status = 401


class ForbiddenError(RequestError):
    """The credentials are valid, and a permission is missing."""

    code = "cluster.forbidden"
    status = 403


class MissingError(RequestError):
    """The object does not exist, or the resource is not served."""

    code = "cluster.missing"
    status = 404


class ExpiredError(RequestError):
    """The server no longer holds the requested version."""

    code = "cluster.expired"
    status = 410

    @property
    def oldest(self) -> str | None:
        """The version from which the server says it can watch, if it does.

        Only its message has it: ``too old resource version: 529 (561)``.
        Callers must work without it, and verify it.
        """
        found = _OLDEST.search(str(self))
        return found and found[1]


class ThrottledError(RequestError, Transient):
    """The server asks to retry later."""

    code = "cluster.throttled"
    status = 429

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ServerError(RequestError, Transient):
    """The server reports that it failed."""

    code = "cluster.server"
    status = 500

    def __init__(self, message: str, answered: int = 500) -> None:
        super().__init__(message)
        self._answered = answered

    @property
    def reported_status(self) -> int:
        """The status of the response."""
        return self._answered


class BadAnswerError(ServerError):
    """The response is not one of the Kubernetes API."""

    code = "cluster.bad_answer"


class TooLargeError(RequestError):
    """A response exceeded its bound; ``head`` is its beginning."""

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
    """A request as messages name it: verb, resource and cluster."""

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
    """Return the error for a response that is not a success."""
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
    """Read a ``Retry-After`` in seconds; API servers send no date."""
    return float(text) if text and text.isdecimal() else 0.0
