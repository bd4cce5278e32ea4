"""Programs of Debian that check what is deployed: found, or installed.

``python -m tests.support.programs`` installs them where that is possible, so
that a first test need not wait for them.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["INSTALL", "found", "install", "need_plugin"]

PACKAGES = {
    "curl": "curl",
    "debootstrap": "debootstrap",
    "jq": "jq",
    "promtool": "prometheus",
    "systemd-analyze": "systemd",
    "prometheus-alertmanager": "prometheus-alertmanager",
    "munged": "munge",
    "slurmctld": "slurmctld slurm-wlm-jwt-plugin",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
    "slurmrestd": "slurmrestd",
    "slurmdbd": "slurmdbd slurm-wlm-mysql-plugin",
    "mariadbd": "mariadb-server",
    "mariadb-install-db": "mariadb-server",
}
INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")
_WAITING = ("-o", "DPkg::Lock::Timeout=600")
"""Another process may be installing as well."""


def found(name: str) -> str:
    """Find a program, installing its package where that is possible."""
    program = shutil.which(name)
    if program is None:
        install(PACKAGES[name])
        program = shutil.which(name)
    if program is None:
        pytest.fail(
            f'the tests need "{name}"; run: sudo {" ".join(INSTALL)}'
            f" {PACKAGES[name]}",
            pytrace=False,
        )
    return program


def need_plugin(name: str, package: str) -> None:
    """Install the package of a plugin of Slurm, unless it is there."""
    plugin = f"*/slurm-wlm/{name}.so"
    if not any(Path("/usr/lib").glob(plugin)):
        install(package)
    if not any(Path("/usr/lib").glob(plugin)):
        pytest.fail(
            f'the tests need the plugin "{name}" of Slurm; run: sudo'
            f" {' '.join(INSTALL)} {package}",
            pytrace=False,
        )


def install(packages: str) -> None:
    """Install packages of Debian, named in one text, where that is possible.

    That it failed shows in what is then still absent.
    """
    if os.geteuid() != 0 or shutil.which(INSTALL[0]) is None:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    named = [*INSTALL, *_WAITING, *packages.split()]
    for words in ([INSTALL[0], "update"], named):
        sys.stderr.write(f"{' '.join(words)}\n")
        subprocess.run(words, env=environment, stdout=2, check=False)


if __name__ == "__main__":
    for each in PACKAGES.keys() - {"debootstrap"}:
        print(found(each))
