"""A bucket that speaks as much of S3 as object stores are asked, and can fail.

Its objects are kept by their paths; `refuses` is what it answers writes with.
One that locks what it takes wants a checksum with it, as S3 does.
"""

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from xml.sax.saxutils import escape

from aiohttp import web

__all__ = ["FakeBucket", "served_bucket"]

CREATED = "2026-11-24T00:00:00.000Z"


@dataclass
class FakeBucket:
    """One bucket, whatever its name."""

    address: str = ""
    objects: dict[str, bytes] = field(default_factory=dict)
    refuses: tuple[int, str] | None = None
    locks: bool = False
    """Whether each object is locked by a retention of the bucket."""

    async def answer(self, request: web.Request) -> web.Response:
        _, _, path = request.path.lstrip("/").partition("/")
        if request.method == "PUT":
            return await self._put(request, path)
        if not path:
            return self._list(request)
        if path not in self.objects:
            return _error(404, "NoSuchKey")
        content = self.objects[path]
        headers = {
            "ETag": '"1"',
            "Last-Modified": "Tue, 24 Nov 2026 00:00:00 GMT",
        }
        return web.Response(body=content, headers=headers)

    async def _put(self, request: web.Request, path: str) -> web.Response:
        if self.refuses is not None:
            return _error(*self.refuses)
        if "If-None-Match" in request.headers and path in self.objects:
            return _error(412, "PreconditionFailed")
        content = await request.read()
        if self.locks:
            sent = request.headers.get("x-amz-checksum-sha256", "")
            if sent != b64encode(sha256(content).digest()).decode():
                return _error(400, "InvalidRequest: checksum is required")
        self.objects[path] = content
        return web.Response(headers={"ETag": '"1"'})

    def _list(self, request: web.Request) -> web.Response:
        prefix = request.query.get("prefix", "")
        delimiter = request.query.get("delimiter")
        below: list[str] = []
        folders: set[str] = set()
        for path in sorted(self.objects):
            head, is_deeper, _ = path[len(prefix) :].partition(
                delimiter or "\0"
            )
            if path.startswith(prefix) and is_deeper:
                folders.add(f"{prefix}{head}{delimiter}")
            elif path.startswith(prefix):
                below.append(path)
        found = "".join(
            f"<Contents><Key>{escape(path)}</Key>"
            f"<Size>{len(self.objects[path])}</Size>"
            f"<LastModified>{CREATED}</LastModified><ETag>1</ETag></Contents>"
            for path in below
        ) + "".join(
            f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix>"
            "</CommonPrefixes>"
            for folder in sorted(folders)
        )
        return web.Response(
            text=f"<ListBucketResult>{found}</ListBucketResult>",
            content_type="application/xml",
        )


def _error(status: int, code: str) -> web.Response:
    return web.Response(
        status=status, text=f"<Error><Code>{code}</Code></Error>"
    )


@asynccontextmanager
async def served_bucket() -> AsyncIterator[FakeBucket]:
    """Serve a bucket while entered."""
    bucket = FakeBucket()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", bucket.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    bucket.address = f"http://{host}:{port}"
    try:
        yield bucket
    finally:
        await runner.cleanup()
