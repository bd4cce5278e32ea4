"""Posting to webhooks over HTTP: bounded, verified, and to one address only.

A redirect is a response and is not followed: messages go only to the address
that an operator configured. No error names the address, which may be a secret.
"""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from recorder import __version__
from recorder.answers.text.lines import plain
from recorder.notification.loading import NotifyError, address_of, token_of
from recorder.notification.ports import Answer, PostError
from recorder.notification.rules import Post, Rule

BODY_MAX: Final = 64 << 10
"""Bytes of a message; the largest has about 30 KiB."""

ANSWER_MAX: Final = 4 << 10
SHOWN_MAX: Final = 200
SECRET_MIN: Final = 4
"""Shorter parts of an address are not considered secret."""


class WebhookPoster:
    """Posts messages, each over its own connection."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def post(
        self, rule: Rule, *, key: str, body: bytes, content_type: str
    ) -> Answer:
        """Post once.

        Raises:
            PostError: there was no response in time.
            NotifyError: a file that the rule names cannot be used.
        """
        if len(body) > BODY_MAX:
            msg = f"the message has more than {BODY_MAX:,} bytes"
            raise PostError(msg)
        post = rule.post
        address, token = address_of(post), token_of(post)
        headers = {
            "Content-Type": content_type,
            "User-Agent": f"recorder/{__version__}",
            "Idempotency-Key": key,
        }
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        timeout = aiohttp.ClientTimeout(total=post.timeout_seconds)
        try:
            async with self._session.post(
                address,
                data=body,
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
                ssl=_tls(post),
            ) as answer:
                said = await answer.content.read(ANSWER_MAX)
                return Answer(
                    status=answer.status,
                    retry_after=_retry_after(
                        answer.headers.get("Retry-After", "")
                    ),
                    says=_shown(said, address, token),
                )
        except TimeoutError as exc:
            msg = f"no answer within {post.timeout}"
            raise PostError(msg) from exc
        except aiohttp.ClientError as exc:
            raise PostError(_why(exc)) from exc


@asynccontextmanager
async def webhooks() -> AsyncIterator[WebhookPoster]:
    """Yield a poster while entered."""
    connector = aiohttp.TCPConnector(force_close=True, limit=0)
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    ) as session:
        yield WebhookPoster(session)


def _tls(post: Post) -> ssl.SSLContext:
    """Return how to verify the receiver."""
    try:
        return ssl.create_default_context(cafile=post.ca_file)
    except (OSError, ssl.SSLError) as exc:
        msg = f'cannot use the authorities in "{post.ca_file}": {exc.strerror}'
        raise NotifyError(msg) from exc


def _retry_after(text: str) -> timedelta | None:
    try:
        if text.isdecimal():
            return timedelta(seconds=min(int(text), 10**6))
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(at - datetime.now(UTC), timedelta())


def _shown(said: bytes, address: str, token: str | None) -> str:
    """Return the beginning of a response, without secrets that it repeats."""
    text = said.decode(errors="replace")
    parts = urlsplit(address)
    secrets = [address, parts.path, *parts.path.split("/"), parts.query]
    for secret in sorted({*secrets, token or ""}, key=len, reverse=True):
        if len(secret) >= SECRET_MIN:
            text = text.replace(secret, "***")
    return plain(" ".join(text.split())[:SHOWN_MAX])


def _why(error: aiohttp.ClientError) -> str:
    """Return the reason as text, without an address."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            said = getattr(error.certificate_error, "verify_message", "")
            return f"the certificate of the receiver is not valid: {said}"
        case aiohttp.ClientConnectorDNSError():
            return "the name of the receiver cannot be resolved"
        case aiohttp.ClientSSLError():
            return "no TLS connection to the receiver"
        case aiohttp.ClientConnectorError():
            said = error.os_error.strerror or "no connection"
            return f"cannot connect to the receiver: {said}"
        case aiohttp.ServerDisconnectedError():
            return "the receiver closed the connection without an answer"
        case _:
            return f"no usable answer ({type(error).__name__})"
