"""A client of slurmrestd, of any version: bounded requests, one token file.

The version is the highest that the server describes in ``/openapi/v3`` and
that is known here, else the highest that it has. The token is read again for
each poll. Bodies are streamed and bounded; an answer that is no JSON, or that
has errors in the place of what was asked for, is a failure.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple, Self

import aiohttp
import msgspec

from recorder.model.errors import ConfigError, RecorderError

KNOWN: Final = 45
"""The newest version that was tried."""

BODY_MAX: Final = 256 << 20
"""Bytes of one answer: four times the jobs of 20,000 on 22.05."""

SPEC_MAX: Final = 32 << 20

PATHS: Final = re.compile(rb"\\?/slurm\\?/v0\.0\.(\d+)\\?/")
DB_PATHS: Final = re.compile(rb"\\?/slurmdb\\?/v0\.0\.(\d+)\\?/")
DUPLICATES: Final = 40
"""From this version on accounting lists all runs of a time."""

UNAUTHORIZED: Final = frozenset({401, 511})
"""By which a token is refused; 24.11 says 511."""

UNSPECIFIED: Final = "Unspecified error"
"""By which 22.05 refuses a token, with status 500."""

NOT_AUTHENTICATED: Final = "authentication error"
"""In what 26.05 sends behind the end of an answer that refuses a token."""

SAID_MAX: Final = 16 << 10
"""Bytes that are read of an answer that refuses."""


class SlurmError(RecorderError):
    """Slurm did not answer as asked."""

    code = "slurm.request"


class Api(NamedTuple):
    """What a slurmrestd serves."""

    version: int
    states: bool
    """Whether it has ``/jobs/state/``."""

    accounting: int
    """The version of slurmdb; zero if it has none."""

    @property
    def name(self) -> str:
        """The written form of the version."""
        return f"v0.0.{self.version}"


class SlurmClient:
    """Asks one slurmrestd; to be entered."""

    def __init__(
        self,
        url: str,
        user: str,
        token: Callable[[], str],
        *,
        seconds: float = 60.0,
    ) -> None:
        """Prepare.

        Args:
            url: of slurmrestd, without a path.
            user: whose token it is.
            token: reads it.
            seconds: for one request.
        """
        self._url = url.rstrip("/")
        self._user = user
        self._token = token
        self._timeout = aiohttp.ClientTimeout(total=seconds)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Open connections as they are needed."""
        self._session = aiohttp.ClientSession(timeout=self._timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close them."""
        if self._session is not None:
            await self._session.close()

    async def api(self) -> Api:
        """Return what the server serves.

        Raises:
            SlurmError: it does not answer, or serves nothing of Slurm.
        """
        spec = await self._bytes("/openapi/v3", SPEC_MAX)
        versions = {int(found) for found in PATHS.findall(spec)}
        if not versions:
            msg = f"{self._url} serves no version of Slurm's REST API"
            raise SlurmError(msg)
        accounts = {int(found) for found in DB_PATHS.findall(spec)}
        version = _best(versions)
        path = rb"v0\.0\.%d\\?/jobs\\?/state" % version
        return Api(
            version,
            re.search(path, spec) is not None,
            _best(accounts) if accounts else 0,
        )

    async def get(self, path: str, form: type[Any]) -> Any:
        """Return an answer, decoded.

        Raises:
            SlurmError: there is none, or it has another form.
        """
        body = await self._bytes(path, BODY_MAX)
        try:
            return await asyncio.to_thread(
                msgspec.json.decode, body, type=form
            )
        except (ValueError, RecursionError) as exc:
            msg = f"{self._url}{path} did not answer as Slurm does: {exc}"
            raise SlurmError(msg) from exc

    async def _bytes(self, path: str, most: int) -> bytes:
        assert self._session is not None, "it was entered"
        try:
            token = self._token()
        except ConfigError as exc:
            raise SlurmError(str(exc)) from exc
        headers = {
            "X-SLURM-USER-NAME": self._user,
            "X-SLURM-USER-TOKEN": token,
        }
        where = f"{self._url}{path.partition('?')[0]}"
        try:
            async with self._session.get(
                f"{self._url}{path}", headers=headers
            ) as response:
                if response.status != 200:  # noqa: PLR2004 - HTTP
                    said = await response.content.read(SAID_MAX)
                    raise SlurmError(_refused(where, response.status, said))
                body = bytearray()
                async for part in response.content.iter_any():
                    body += part
                    if len(body) > most:
                        msg = f"{where} answered more than {most:,} bytes"
                        raise SlurmError(msg)
                return bytes(body)
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            why = str(exc)[:SAID_MAX] or type(exc).__name__
            if NOT_AUTHENTICATED in why:
                msg = _refused(where, HTTPStatus.UNAUTHORIZED, b"")
                raise SlurmError(msg) from exc
            msg = f"{where} did not answer: {why}"
            raise SlurmError(msg) from exc


def _refused(where: str, status: int, body: bytes) -> str:
    try:
        said = errors_of(msgspec.json.decode(body, type=dict[str, Any]))
    except (ValueError, RecursionError):
        said = ""
    if status in UNAUTHORIZED or said == UNSPECIFIED:
        return (
            f"{where} refused the token ({status}): it may have expired; write"
            " a new one to the file of slurm_token_file, as `scontrol token"
            " lifespan=SECONDS` prints it"
        )
    return f"{where} answered {status}" + (f": {said}" if said else "")


def _best(versions: set[int]) -> int:
    known = [version for version in versions if version <= KNOWN]
    return max(known or versions)


def errors_of(said: Mapping[str, Any]) -> str:
    """Return the errors that an answer lists, in words."""
    errors: Sequence[Any] = said.get("errors") or ()
    found = [
        str(one.get("error") or one.get("description") or one)
        for one in errors
        if isinstance(one, Mapping)
    ]
    return "; ".join(found)[:256]
