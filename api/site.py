"""The page's files, as they came with the package.

They are read once: a file is served from memory, with a tag of its content,
and nothing outside the folder can be asked for. Every path without a file of
its own is a view of the page.
"""

import hashlib
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path
from typing import Self

from starlette.requests import Request
from starlette.responses import Response

__all__ = ["Site"]

FOLDER = Path(__file__).with_name("static")
TYPES = {".js": "text/javascript", ".mjs": "text/javascript"}
REVALIDATED = "no-cache"
"""Kept by browsers, and asked for again by its tag each time."""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    media_type: str
    tag: str

    @classmethod
    def read(cls, path: Path) -> Self:
        content = path.read_bytes()
        kind = TYPES.get(path.suffix) or guess_type(path.name)[0]
        if kind is None or kind.startswith("text/"):
            kind = f"{kind or 'text/plain'}; charset=utf-8"
        digest = hashlib.sha256(content).hexdigest()[:32]
        return cls(content, kind, f'"{digest}"')


class Site:
    """Serves the files of a folder."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _File.read(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    async def serve(self, request: Request) -> Response:
        """Return a file, or the page."""
        path = request.path_params.get("path", "")
        file = self._files.get(path)
        if file is None and not path.startswith("assets/"):
            file = self._files.get("index.html")
        if file is None:
            return Response("no such file\n", 404)
        headers = {"ETag": file.tag, "Cache-Control": REVALIDATED}
        known = request.headers.get("if-none-match", "")
        if file.tag in {tag.strip() for tag in known.split(",")}:
            return Response(status_code=304, headers=headers)
        return Response(
            file.content, media_type=file.media_type, headers=headers
        )
