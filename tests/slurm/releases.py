"""Newer releases of Slurm: folders with other Debians than the machine's.

``python -m tests.slurm.releases`` makes them by debootstrap, which needs root
and some minutes. Without them the recorded polls of 24.11 are replayed alone.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cluster.binaries import cache
from tests.support.programs import found

__all__ = ["releases"]

SUITES = {"24.11": "trixie", "26.05": "sid"}
"""The suite of Debian with a release; that of sid may be newer."""

PACKAGES = (
    *("munge", "slurmctld", "slurmd", "slurmdbd", "slurmrestd"),
    *("slurm-client", "slurm-wlm-jwt-plugin", "slurm-wlm-mysql-plugin"),
)
MIRROR = "http://deb.debian.org/debian"


def releases() -> dict[str, Path]:
    """Return the folders that were made, by the release of Slurm."""
    folders = {name: cache() / suite for name, suite in SUITES.items()}
    return {name: path for name, path in folders.items() if path.is_dir()}


def make(suite: str) -> bool:
    """Make the folder of a suite; return whether it is there."""
    if (cache() / suite).is_dir():
        return True
    if os.geteuid() != 0:
        return False
    new = cache() / f"{suite}.{os.getpid()}"
    done = subprocess.run(
        [
            found("debootstrap"),
            "--variant=minbase",
            f"--include={','.join(PACKAGES)}",
            suite,
            str(new),
            MIRROR,
        ],
        stdout=2,
        check=False,
    )
    if done.returncode:
        return False
    # slurmdbd finds the machine by its name.
    shutil.copy("/etc/hosts", new / "etc" / "hosts")
    new.rename(cache() / suite)
    return True


if __name__ == "__main__":
    for release, suite in SUITES.items():
        if not make(suite):
            sys.stderr.write(f"no Debian {suite} for Slurm {release}\n")
