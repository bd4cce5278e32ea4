"""etcd through its own JSON gateway: no client library, no code of ours.

The gateway is protobuf's JSON mapping: keys and values are base64, numbers of
64 bits are strings, and a default value is absent.
"""

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import aiohttp
import orjson

__all__ = ["Change", "Etcd", "EtcdError", "KeyValue", "Watched"]

EVERYTHING = {"key": "AA==", "range_end": "AA=="}
"""From the key of one zero byte on: every key there is."""

REQUEST_SECONDS = 30

PAGE = 500


class EtcdError(Exception):
    """etcd said no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValue:
    """A key as it is at one revision."""

    key: str
    value: bytes
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A key that was written, or deleted: then it has no value."""

    key: str
    value: bytes | None
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One message of a watch. Changes of one revision are never split."""

    revision: int
    changes: list[Change]


class Etcd:
    """One etcd, by its client URL."""

    def __init__(self, url: str) -> None:
        # Without a limit: a snapshot and a watch take as long as they take.
        self._session = aiohttp.ClientSession(
            url, timeout=aiohttp.ClientTimeout(total=None, sock_connect=5)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def healthy(self) -> bool:
        """Whether it answers and has a leader."""
        try:
            async with self._session.get(
                "/health", timeout=aiohttp.ClientTimeout(total=2)
            ) as response:
                return response.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    async def revision(self) -> int:
        """Return the newest revision."""
        answer = await self._call(
            "/v3/kv/range", {"key": "AA==", "count_only": True}
        )
        return int(answer["header"]["revision"])

    async def compact(self, revision: int) -> None:
        """Forget the history before a revision, physically."""
        await self._call(
            "/v3/kv/compaction",
            {"revision": str(revision), "physical": True},
        )

    async def everything(self) -> tuple[int, list[KeyValue]]:
        """Return every key as of one revision, and the revision."""
        found: list[KeyValue] = []
        revision = await self.revision()
        start = EVERYTHING["key"]
        while True:
            answer = await self._call(
                "/v3/kv/range",
                {
                    "key": start,
                    "range_end": EVERYTHING["range_end"],
                    "limit": str(PAGE),
                    "revision": str(revision),
                },
            )
            found += [_key_value(kv) for kv in answer.get("kvs", ())]
            if not answer.get("more"):
                return revision, found
            following = found[-1].key.encode() + b"\0"
            start = base64.b64encode(following).decode()

    async def watch(self, *, after: int) -> AsyncIterator[Watched]:
        """Yield every change after a revision, until the connection ends.

        Raises:
            EtcdError: The history from there on is compacted.
        """
        wanted = EVERYTHING | {"start_revision": str(after + 1)}
        async with self._session.post(
            "/v3/watch", json={"create_request": wanted}
        ) as response:
            response.raise_for_status()
            async for line in _lines(response):
                result = _result(line)
                if result.get("canceled"):
                    message = (
                        f"watch after {after} cancelled, compacted up to "
                        f"{result.get('compact_revision', '?')}: "
                        f"{result.get('cancel_reason', '')}"
                    )
                    raise EtcdError(message)
                yield Watched(
                    revision=int(result["header"]["revision"]),
                    changes=[_change(e) for e in result.get("events", ())],
                )

    async def snapshot(self, path: Path) -> None:
        """Write a snapshot that ``etcdutl snapshot restore`` takes."""
        async with self._session.post(
            "/v3/maintenance/snapshot", json={}
        ) as response:
            response.raise_for_status()
            with path.open("wb") as file:
                async for line in _lines(response):
                    file.write(base64.b64decode(_result(line).get("blob", "")))

    async def _call(self, path: str, body: dict[str, Any]) -> Any:
        async with self._session.post(
            path,
            json=body,
            timeout=aiohttp.ClientTimeout(total=REQUEST_SECONDS),
        ) as response:
            text = await response.read()
            if not response.ok:
                message = f"{path}: {response.status} {text[:500]!r}"
                raise EtcdError(message)
            return orjson.loads(text)


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Split a stream at line ends; a line has no limit, as a value has none.

    aiohttp's own line reader refuses lines over 64 KB. A line without its end
    was cut off with the connection and is no line.
    """
    parts: list[bytes] = []
    async for chunk in response.content.iter_any():
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            parts.append(line)
            whole = b"".join(parts)
            parts.clear()
            if whole:
                yield whole
        parts.append(rest)


def _result(line: bytes) -> dict[str, Any]:
    message = orjson.loads(line)
    if "error" in message:
        raise EtcdError(str(message["error"]))
    result: dict[str, Any] = message["result"]
    return result


def _key_value(kv: dict[str, str]) -> KeyValue:
    return KeyValue(
        key=_text(kv["key"]),
        value=base64.b64decode(kv.get("value", "")),
        revision=int(kv["mod_revision"]),
    )


def _change(event: dict[str, Any]) -> Change:
    kv = event["kv"]
    deleted = event.get("type") == "DELETE"
    return Change(
        key=_text(kv["key"]),
        value=None if deleted else base64.b64decode(kv.get("value", "")),
        revision=int(kv["mod_revision"]),
    )


def _text(encoded: str) -> str:
    return base64.b64decode(encoded).decode()
