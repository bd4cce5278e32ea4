"""Serves the files of the page, which are part of the package.

They are read once and served from memory; no file outside the folder can be
requested. The name of an asset contains a hash of its content, also where
other files load it, so that browsers cache it forever. A path without a file
of its own is a view of the page.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from mimetypes import guess_type
from pathlib import Path
from posixpath import dirname, join, normpath

import brotli
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parents[1] / "static"
ASSETS = "assets/"
TYPES = {".js": "text/javascript", ".mjs": "text/javascript"}
REVALIDATED = "no-cache"
"""Cached by browsers, and revalidated by its ETag each time."""

KEPT = "public, max-age=31536000, immutable"
"""Never requested again: other content has another name."""

HASH_DIGITS = 12
QUALITY = 11
"""The best of brotli: half a second, once, for what every first visit
loads."""

_NAMED = re.compile(rb"""(?<=["'])(/assets/|\./)([\w./-]+)(?=["'])""")
"""A reference in a file to another that it loads."""


@dataclass(frozen=True)
class _File:
    name: str
    content: bytes

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def hashed_name(self) -> str:
        stem, dot, suffix = self.name.rpartition(".")
        return f"{stem}.{self.digest[:HASH_DIGITS]}{dot}{suffix}"

    @cached_property
    def compressed(self) -> bytes:
        small: bytes = brotli.compress(self.content, quality=QUALITY)
        return small


class Site:
    """Serves the files of a folder."""

    def __init__(self, folder: Path = FOLDER) -> None:
        """Read the files, and add hashes to the names of assets."""
        self._read = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        self._named: dict[str, _File] = {}
        for name in self._read:
            self._of(name)
        self._kept = {
            file.hashed_name: file
            for name, file in self._named.items()
            if name.startswith(ASSETS)
        }

    def _of(self, name: str) -> _File:
        """Return a file with hashed names of the assets that it loads."""
        if name not in self._named:

            def renamed(found: re.Match[bytes]) -> bytes:
                how, other = found[1].decode(), found[2].decode()
                folder = ASSETS if how == "/assets/" else dirname(name)
                path = normpath(join(folder, other))
                if path not in self._read or path == name:
                    return found[0]
                hashed = self._of(path).hashed_name.rpartition("/")[2]
                return f"{how}{join(dirname(other), hashed)}".encode()

            content = _NAMED.sub(renamed, self._read[name])
            self._named[name] = _File(name, content)
        return self._named[name]

    async def serve(self, request: Request) -> Response:
        """Return a file, or the page."""
        path = request.path_params.get("path", "")
        kept = self._kept.get(path)
        file = kept or self._named.get(path)
        if file is None and not path.startswith(ASSETS):
            file = self._named.get("index.html")
        if file is None:
            return Response("no such file\n", 404)
        tag = f'"{file.digest[:32]}"'
        headers = {"ETag": tag, "Cache-Control": KEPT if kept else REVALIDATED}
        known = request.headers.get("if-none-match", "")
        if tag in {one.strip() for one in known.split(",")}:
            return Response(status_code=304, headers=headers)
        content = file.content
        if kept and takes_brotli(request.headers.get("accept-encoding", "")):
            # Assets are loaded once and cached: compress them best.
            if "compressed" not in vars(file):
                await to_thread.run_sync(lambda: file.compressed)
            content = file.compressed
            headers |= {"Content-Encoding": "br", "Vary": "Accept-Encoding"}
        return Response(
            content, media_type=media_type(file.name), headers=headers
        )


def media_type(name: str) -> str:
    """Return the type of a file by its name, with the charset of text."""
    kind = TYPES.get(Path(name).suffix) or guess_type(name)[0]
    if kind is None or kind.startswith("text/"):
        return f"{kind or 'text/plain'}; charset=utf-8"
    return kind


def takes_brotli(accepted: str) -> bool:
    """Return whether an Accept-Encoding allows brotli."""
    return any(
        re.fullmatch(r"\s*br\s*(;\s*q=(?!0(\.0*)?\s*$)[\d.]+)?\s*", one)
        for one in accepted.lower().split(",")
    )
