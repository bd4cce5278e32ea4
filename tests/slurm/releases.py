"""Slurm 24.11: a folder with Debian trixie, beside the Debian of the machine.

``python -m tests.slurm.trixie`` makes it by debootstrap, which needs root and
some minutes. Without it the recorded polls of 24.11 are replayed alone.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cluster.binaries import cache
from tests.support.programs import found

__all__ = ["trixie"]

PACKAGES = (
    *("munge", "slurmctld", "slurmd", "slurmdbd", "slurmrestd"),
    *("slurm-client", "slurm-wlm-jwt-plugin", "slurm-wlm-mysql-plugin"),
)
MIRROR = "http://deb.debian.org/debian"


def trixie() -> Path | None:
    """Return the folder; None if it was not made."""
    folder = cache() / "trixie"
    return folder if folder.is_dir() else None


def make() -> None:
    """Make the folder, if it is not there."""
    if trixie() is not None:
        return
    if os.geteuid() != 0:
        sys.stderr.write("Debian trixie needs root: 24.11 is replayed\n")
        return
    new = cache() / f"trixie.{os.getpid()}"
    done = subprocess.run(
        [
            found("debootstrap"),
            "--variant=minbase",
            f"--include={','.join(PACKAGES)}",
            "trixie",
            str(new),
            MIRROR,
        ],
        stdout=2,
        check=False,
    )
    if done.returncode:
        sys.stderr.write("Debian trixie was not made: 24.11 is replayed\n")
        return
    # slurmdbd finds the machine by its name.
    shutil.copy("/etc/hosts", new / "etc" / "hosts")
    new.rename(cache() / "trixie")


if __name__ == "__main__":
    make()
