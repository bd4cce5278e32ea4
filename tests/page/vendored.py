"""What is served of npm: fetched by npm, compared by hash, kept compressed.

``python -m tests.page.vendored`` writes the files of ``api/graphiql`` that
are not ours anew; a manifest there has the packages, their members and the
SHA-256 of what is served. To take another version, change the manifest, run
it, and compare what it reports.
"""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import brotli

from tests.support.node import npm

__all__ = ["FOLDER", "content", "manifest"]

FOLDER = Path(__file__).parents[2] / "api/graphiql"
FONTS = re.compile(rb"@font-face\s*\{[^}]*\}")
"""Nine tenths of the style sheet; its policy allows no fonts."""


def manifest() -> list[dict[str, str]]:
    """Return the files, each with its package."""
    listed: list[dict[str, str]] = json.loads(
        (FOLDER / "manifest.json").read_text()
    )
    return listed


def content(one: Mapping[str, str]) -> bytes:
    """Return a file of the folder as browsers get it."""
    kept = (FOLDER / one["file"]).read_bytes()
    if not one["file"].endswith(".br"):
        return kept
    plain: bytes = brotli.decompress(kept)
    return plain


def fetched(one: Mapping[str, str]) -> bytes:
    """Return it as npm has it, without fonts."""
    package = f"{one['package']}@{one['version']}"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [*npm(), "pack", package, "--silent"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (packed,) = Path(folder).glob("*.tgz")
        with tarfile.open(packed) as archive:
            member = archive.extractfile(one["member"])
            assert member is not None, one["member"]
            return FONTS.sub(b"", member.read())


if __name__ == "__main__":
    for one in manifest():
        text = fetched(one)
        digest = hashlib.sha256(text).hexdigest()
        if digest != one["sha256"]:
            sys.exit(f"{one['file']}: its SHA-256 is {digest}")
        packed = one["file"].endswith(".br")
        kept = brotli.compress(text, quality=11) if packed else text
        (FOLDER / one["file"]).write_bytes(kept)
