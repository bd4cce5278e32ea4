"""Listing a resource in pages, with memory for one page.

The items are cut out of the page as the server sent them and never decoded.
The version of the list is that of its first page: all pages show the same
moment. When the token for the next page expires the list starts again, at
another version; the caller must drop the pages before it.
"""

from array import array
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from recorder.intake.ports import HeldVersion
from recorder.sources.watch.client import JSON, ClusterClient
from recorder.sources.watch.errors import ExpiredError, TooLargeError
from recorder.sources.watch.frames import UNREADABLE, Refused
from recorder.sources.watch.target import Target
from recorder.sources.watch.versions import as_int64

_METADATA_ONLY = (
    f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page; ``refused`` is an object that was too large to take."""

    version: str
    kind: str
    items: list[bytes]
    more: bool
    refused: Refused | None = None


class _ListMetadata(msgspec.Struct):
    resourceVersion: str = ""  # noqa: N815 - the API's own names
    next: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    metadata: _ListMetadata
    kind: str = ""
    items: list[msgspec.Raw] | None = None


class _ItemMetadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""  # noqa: N815
    creationTimestamp: str = ""  # noqa: N815


class _Item(msgspec.Struct):
    metadata: _ItemMetadata


class _Versions(msgspec.Struct):
    metadata: _ListMetadata
    items: list[_Item] | None = None


T = TypeVar("T")

_LIST = msgspec.json.Decoder(_List)
_VERSIONS = msgspec.json.Decoder(_Versions)


async def list_pages(
    client: ClusterClient, target: Target, *, version: str = ""
) -> AsyncGenerator[Page]:
    """List a resource page by page, as it is now or was at a version.

    Raises:
        ExpiredError: the server no longer holds that version.
        RequestError: a page could not be read.
    """
    limit, token = client.settings.page_limit, ""
    while True:
        try:
            page, token = await _page(
                client, target, limit=limit, token=token, version=version
            )
        except ExpiredError:
            if not token:
                raise
            token = ""
            continue
        except TooLargeError as exc:
            if limit > 1:
                limit = max(1, limit // 8)
                continue
            page, token = _giant(client, exc)
        yield page
        if not token:
            return


async def _page(
    client: ClusterClient,
    target: Target,
    *,
    limit: int,
    token: str,
    version: str,
) -> tuple[Page, str]:
    body = await _read(
        client, target, limit=limit, token=token, version=version
    )
    read = _decoded(_LIST, client, target, body)
    items = read.items or []
    return Page(
        version=read.metadata.resourceVersion,
        kind=read.kind.removesuffix("List"),
        items=[bytes(item) for item in items],
        more=bool(read.metadata.next),
    ), read.metadata.next


def _giant(client: ClusterClient, exc: TooLargeError) -> tuple[Page, str]:
    """Skip one object that exceeds the bound of a page.

    The metadata of a list come before its items, so the start of the response
    has the token of the next page.
    """
    start, found, _ = exc.head.partition(b',"items":')
    try:
        read = _LIST.decode(start + b"}")
    except UNREADABLE as broken:
        raise exc from broken
    if not found:
        raise exc
    page = Page(
        version=read.metadata.resourceVersion,
        kind=read.kind.removesuffix("List"),
        items=[],
        more=bool(read.metadata.next),
        refused=Refused(
            "object exceeds the bound of a page",
            exc.head[: client.settings.refused_head_bytes],
            exc.sha256,
            exc.length,
        ),
    )
    return page, read.metadata.next


async def list_head(
    client: ClusterClient, target: Target, *, version: str = ""
) -> str:
    """Return the current version of a resource.

    With a version, check whether the server still holds it, and return it.
    """
    accept = _METADATA_ONLY
    body = await _read(
        client, target, limit=1, token="", version=version, accept=accept
    )
    return _decoded(_VERSIONS, client, target, body).metadata.resourceVersion


async def list_at(
    client: ClusterClient, target: Target, *, name: str, version: str
) -> bytes | None:
    """Return one object as it was at a version; None if it did not exist.

    Raises:
        ExpiredError: the server no longer holds that version.
        BadAnswerError: it returns another version.
    """
    body = await client.read(
        target.path,
        verb="list",
        what=str(target.resource),
        params={
            "fieldSelector": f"metadata.name={name}",
            "resourceVersion": version,
            "resourceVersionMatch": "Exact",
        },
    )
    answer = _decoded(_LIST, client, target, body)
    if answer.metadata.resourceVersion != version:
        why = f"it is of version {answer.metadata.resourceVersion}"
        raise client.bad_answer(str(target.resource), why, verb="list")
    return bytes(answer.items[0]) if answer.items else None


async def list_versions(
    client: ClusterClient, target: Target, *, version: str = ""
) -> tuple[str, dict[str, HeldVersion]]:
    """List versions of objects by UID; return the version of the list too.

    As of now, or of a version.


    Raises:
        ExpiredError: the server no longer holds that version.
    """
    found: dict[str, HeldVersion] = {}
    at = ""
    async for page in _metadata_pages(client, target, version=version):
        at = page.metadata.resourceVersion
        for item in page.items or []:
            of = item.metadata
            held = HeldVersion(of.namespace, of.name, of.resourceVersion)
            found[of.uid] = held
    return at, found


async def list_young(
    client: ClusterClient, target: Target, *, created_since: str
) -> tuple[str, Sequence[int]]:
    """List versions of objects; return the version of the list too.

    In eight bytes for each, because there can be a million Events. Objects
    created before ``created_since`` are left out, and versions that are not
    64-bit numbers.
    """
    found = array("q")
    at = ""
    async for page in _metadata_pages(client, target):
        at = page.metadata.resourceVersion
        for item in page.items or []:
            version = as_int64(item.metadata.resourceVersion)
            young = item.metadata.creationTimestamp >= created_since
            if young and version is not None:
                found.append(version)
    return at, found


async def _metadata_pages(
    client: ClusterClient, target: Target, *, version: str = ""
) -> AsyncGenerator[_Versions]:
    limit, token = client.settings.page_limit, ""
    while True:
        body = await _read(
            client,
            target,
            limit=limit,
            token=token,
            version=version,
            accept=_METADATA_ONLY,
        )
        page = _decoded(_VERSIONS, client, target, body)
        yield page
        token = page.metadata.next
        if not token:
            return


def _decoded(
    decoder: msgspec.json.Decoder[T],
    client: ClusterClient,
    target: Target,
    body: bytes,
) -> T:
    try:
        return decoder.decode(body)
    except UNREADABLE as exc:
        raise client.bad_answer(
            str(target.resource), exc, verb="list"
        ) from exc


async def _read(
    client: ClusterClient,
    target: Target,
    *,
    limit: int,
    token: str,
    version: str = "",
    accept: str = JSON,
) -> bytes:
    params = {"limit": str(limit)}
    if token:
        params["continue"] = token
    elif version:
        params["resourceVersion"] = version
        params["resourceVersionMatch"] = "Exact"
    return await client.read(
        target.path,
        verb="list",
        what=str(target.resource),
        params=params,
        accept=accept,
        limit=client.settings.page_bytes_max,
    )
