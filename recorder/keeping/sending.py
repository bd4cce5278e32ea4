"""Sending claims: the events of a spool to a recorder, oldest first.

Uses the standard library alone, because scripts start it. An event leaves the
spool when the recorder has it in the log, or refuses it for what it says. A
request that fails for another reason ends the attempt, and the events stay: a
lost connection, a recorder that stands by or is overloaded, a token that is
not valid, or an address that serves something else.
"""

import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from recorder.keeping.secret_files import read_secret
from recorder.keeping.spool import Spool, Waiting
from recorder.model.errors import ConfigError

PATH = "/ingest"
"""Where a recorder accepts events, of an address without a path."""

REQUEST_SECONDS = 30.0
"""More than the recorder waits for its log."""

REASON_BYTES_MAX = 2048

OF_THE_EVENT = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)
"""Responses that say that an event will never be accepted."""


class Receiver(NamedTuple):
    """The recorder that takes the events."""

    url: SplitResult
    token: str
    ca_file: Path | None

    @property
    def name(self) -> str:
        """Return its host and port, as the name of a folder."""
        return self.url.netloc.rpartition("@")[2].replace(":", "_")


class Refusal(NamedTuple):
    """An event that was refused, and where it is now."""

    place: Path
    reason: str


class Sent(NamedTuple):
    """What an attempt to empty a spool came to."""

    accepted: int
    refused: Sequence[Refusal]
    trouble: str | None
    """Why events still wait; None if none does."""


def receiver_at(
    url: str | None, token_file: Path | None, ca_file: Path | None
) -> Receiver:
    """Return the recorder at an address.

    Raises:
        ConfigError: there is none, or a token would be sent in the clear.
        KeyFileError: the token cannot be read, or others may read it.
    """
    if not url:
        msg = (
            "no recorder to send to: use --url https://HOST:PORT, or the"
            " setting send_url"
        )
        raise ConfigError(msg, code="send.address")
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if (
        parts.scheme not in {"https", "http"}
        or not parts.hostname
        or (port is not None and port < 0)
    ):
        msg = f'cannot send to "{url}": write https://HOST:PORT'
        raise ConfigError(msg, code="send.address")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        msg = f'cannot send to "{url}": the token would not be encrypted'
        raise ConfigError(msg, code="send.address")
    if token_file is None:
        msg = (
            "no token to send with: name the file that holds it with"
            " --token-file, or the setting send_token_file"
        )
        raise ConfigError(msg, code="send.address")
    token = read_secret(token_file, "token", named=True)
    if parts.path in {"", "/"}:
        parts = parts._replace(path=PATH)
    return Receiver(parts, token, ca_file)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def flush(spool: Spool, receiver: Receiver, seconds: float) -> Sent:
    """Send the events of a spool until it is empty, or the time is over.

    Raises:
        SpoolError: the spool cannot be used.
        ConfigError: the authority of the recorder cannot be read.
    """
    until = time.monotonic() + seconds
    accepted, refused = 0, list[Refusal]()
    with spool.sending(seconds) as may_send, _connected(receiver) as post:
        if not may_send:
            return Sent(0, (), "another process is sending")
        while events := spool.oldest():
            for batch in _batches(events, post):
                if time.monotonic() >= until:
                    return Sent(accepted, refused, "the time is over")
                status, says = post.answer(batch)
                if status == HTTPStatus.ACCEPTED:
                    spool.remove(batch)
                    accepted += len(batch)
                elif status not in OF_THE_EVENT:
                    return Sent(accepted, refused, says)
                elif len(batch) == 1:
                    place = spool.refuse(batch[0], status, says)
                    refused.append(Refusal(place, f"{status}: {says}"))
                else:
                    post.one_by_one = len(batch)
                    break
    return Sent(accepted, refused, None)


def _batches(
    events: Sequence[Waiting], post: "_Post"
) -> Iterator[Sequence[Waiting]]:
    """Yield the events together, or singly if one of them is refused."""
    if post.one_by_one:
        for one in events[: post.one_by_one]:
            yield [one]
        post.one_by_one = 0
    else:
        yield events


class _Post:
    """One connection to the recorder, opened when it is needed."""

    def __init__(self, receiver: Receiver, connection: HTTPConnection) -> None:
        self._path = receiver.url.path
        if receiver.url.query:
            self._path += f"?{receiver.url.query}"
        self._connection = connection
        self._headers = {
            "Authorization": f"Bearer {receiver.token}",
            "Content-Type": "application/cloudevents-batch+json",
        }
        self._at = receiver.url.netloc
        self.one_by_one = 0
        """How many events to send singly, to find those that are refused."""

    def answer(self, batch: Sequence[Waiting]) -> tuple[int, str]:
        """Post events; return the status, 0 if none came, and the reason."""
        body = b"[" + b",".join(one.document for one in batch) + b"]"
        connection = self._connection
        try:
            connection.request("POST", self._path, body, self._headers)
            answer = connection.getresponse()
            text = answer.read(REASON_BYTES_MAX).decode(errors="replace")
            if not answer.isclosed():
                connection.close()
        except (OSError, HTTPException) as exc:
            connection.close()
            why = str(exc) or type(exc).__name__
            return 0, f"{self._at} does not answer: {why}"
        says = " ".join(text.split()) or answer.reason
        if answer.status in OF_THE_EVENT:
            says = says.removeprefix("event 1: ")
            return answer.status, says
        return answer.status, f"{self._at} answers {answer.status}: {says}"


@contextmanager
def _connected(receiver: Receiver) -> Iterator[_Post]:
    url = receiver.url
    assert url.hostname is not None, "checked when it was read"
    connection: HTTPConnection
    if url.scheme == "https":
        try:
            context = ssl.create_default_context(cafile=receiver.ca_file)
        except (OSError, ssl.SSLError) as exc:
            msg = f"cannot use the authority {receiver.ca_file}: {exc}"
            raise ConfigError(msg, code="send.address") from exc
        connection = HTTPSConnection(
            url.hostname, url.port, timeout=REQUEST_SECONDS, context=context
        )
    else:
        connection = HTTPConnection(
            url.hostname, url.port, timeout=REQUEST_SECONDS
        )
    try:
        yield _Post(receiver, connection)
    finally:
        connection.close()
