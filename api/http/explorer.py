"""Serves GraphiQL, where people write queries in a browser.

Its files are those of npm, compressed once; a browser that does not take
brotli gets them decompressed. Nothing is loaded from elsewhere, and nothing of
a log is in them: they query ``/graphql``, which authenticates as always. The
library writes styles into its document, so these paths have a policy of their
own, which the page does not share.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path

import brotli
from starlette.requests import Request
from starlette.responses import Response

from api.http.site import REVALIDATED, media_type, takes_brotli

FOLDER = Path(__file__).parents[1] / "graphiql"
PACKED = ".br"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)


@cache
def _files() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in FOLDER.iterdir()}


@cache
def _tag(name: str) -> str:
    return f'"{sha256(_files()[name]).hexdigest()[:32]}"'


async def explore(request: Request) -> Response:
    """Return a file of GraphiQL; without a name, the one that loads all."""
    name = request.path_params.get("name", "index.html")
    packed = f"{name}{PACKED}"
    kept = packed if packed in _files() else name
    content = _files().get(kept)
    if content is None:
        return Response("no such file\n", 404)
    tag = _tag(kept)
    headers = {
        "Cache-Control": REVALIDATED,
        "Content-Security-Policy": POLICY,
        "ETag": tag,
    }
    known = request.headers.get("if-none-match", "")
    if tag in {one.strip() for one in known.split(",")}:
        return Response(status_code=304, headers=headers)
    if kept == packed:
        headers["Vary"] = "Accept-Encoding"
        if takes_brotli(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"] = "br"
        else:
            content = brotli.decompress(content)
    return Response(content, media_type=media_type(name), headers=headers)
