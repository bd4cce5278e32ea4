"""axe-core for tests: a package of npm, by its hash.

It is fetched once, by npm itself, and kept beside the other programs of the
tests. ``python -m tests.support.axe`` fetches it before a test waits for it.
"""

import base64
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

from tests.cluster.binaries import cache
from tests.support.node import npm

__all__ = ["axe"]

_PACKAGE = "axe-core@4.14.1"
_SHA512 = (
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFoo"
    "JpZe37OgudVGtQ=="
)
_MEMBER = "package/axe.min.js"


def axe() -> str:
    """Return the script, fetched if it is not there yet."""
    kept = cache() / f"{_PACKAGE}.tgz"
    if not kept.exists():
        _fetch(kept)
    digest = hashlib.sha512(kept.read_bytes()).digest()
    if base64.b64encode(digest).decode() != _SHA512:
        kept.unlink()
        pytest.fail(
            f"{_PACKAGE} is not the one that the tests name: its hash"
            " differs; it was removed, run them again",
            pytrace=False,
        )
    with tarfile.open(kept) as archive:
        member = archive.extractfile(_MEMBER)
        assert member is not None, "the script of the package"
        return member.read().decode()


def _fetch(kept: Path) -> None:
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        done = subprocess.run(
            [*npm(), "pack", _PACKAGE, "--silent"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        found = list(Path(folder).glob("*.tgz"))
        if done.returncode != 0 or not found:
            pytest.fail(
                f"the tests need {_PACKAGE} of npm: {done.stderr.strip()};"
                f" run: {' '.join(npm())} pack {_PACKAGE}",
                pytrace=False,
            )
        found[0].rename(kept)


if __name__ == "__main__":
    sys.stderr.write(f"{_PACKAGE}\n")
    axe()
