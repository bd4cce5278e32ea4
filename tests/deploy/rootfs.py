"""The file system of the image, without a container engine.

What the Containerfile copies is installed into a folder from the wheel, and
the packages of the lock are those of this environment; Python and Debian are
this machine's. A process gets it as its root, read-only, in a mount namespace
of its own, which takes root or a user namespace to make.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["DOOR", "RootFs"]

DOOR = "recorder-door.recorder.svc"
"""A Service that containers find, as by the DNS of a cluster."""

TREE = Path(__file__).parents[2]
SOURCES = ("recorder", "api", "migrations", "pyproject.toml", "README.md",
           "LICENSE")  # fmt: skip
VENV = "opt/recorder"
DEPENDENCIES = "/opt/dependencies"
ACCOUNT = "recorder:x:10001:10001::/data:/usr/sbin/nologin\n"


class RootFs:
    """One folder as the root of any number of containers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self) -> None:
        """Fill it, once."""
        root = self.folder
        for name in ("usr", "etc/ssl", "opt", "dev", "proc", "data", "tmp"):
            (root / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")
        (root / "etc/passwd").write_text(ACCOUNT)
        (root / "etc/group").write_text("recorder:x:10001:\n")
        (root / "etc/hosts").write_text(f"127.0.0.1 localhost {DOOR}\n")
        (root / sys.base_prefix.lstrip("/")).mkdir(parents=True)
        (root / DEPENDENCIES.lstrip("/")).mkdir(parents=True)
        self._install_package()

    def _install_package(self) -> None:
        venv = self.folder / VENV
        version = f"python{sysconfig.get_python_version()}"
        site = venv / "lib" / version / "site-packages"
        site.mkdir(parents=True)
        (venv / "pyvenv.cfg").write_text(f"home = {sys.base_prefix}/bin\n")
        (venv / "bin").mkdir()
        (venv / "bin/python").symlink_to(f"{sys.base_prefix}/bin/{version}")
        source = self.folder.with_name(f"{self.folder.name}-source")
        (source / "deploy").mkdir(parents=True)
        for name in SOURCES:
            subprocess.run(["cp", "-r", str(TREE / name), source], check=True)
        subprocess.run(
            ["cp", "-r", str(TREE / "deploy/sql"), source / "deploy"],
            check=True,
        )
        subprocess.run(
            [sys.executable, "-m", "pip", "--disable-pip-version-check",
             "--quiet", "install", "--no-deps", "--no-build-isolation",
             "--root-user-action", "ignore", "--target", site, source],
            check=True,
        )  # fmt: skip
        (site / "dependencies.pth").write_text(f"{DEPENDENCIES}\n")
        program = venv / "bin/recorder"
        program.write_text(
            f"#!/{VENV}/bin/python\nfrom recorder.cli.main import run\nrun()\n"
        )
        program.chmod(0o755)

    def command(
        self,
        words: Sequence[str],
        *,
        user: str,
        environment: Mapping[str, str],
        mounts: Mapping[str, tuple[Path, bool]],
    ) -> list[str]:
        """Return the command line of a process with this root.

        Args:
            words: what to run in it.
            user: ``UID:GID``; no other group, no capability.
            environment: all that it gets.
            mounts: by path within, what is mounted, and whether to write.
        """
        root = self.folder
        uid, gid = user.split(":")
        packages = sysconfig.get_path("purelib")
        steps = [
            f"mount --bind {root} {root}",
            f"mount -o remount,bind,ro {root}",
            *_bound(root, "/usr", "/usr"),
            *_bound(root, "/etc/ssl", "/etc/ssl"),
            *_bound(root, sys.base_prefix, sys.base_prefix),
            *_bound(root, packages, DEPENDENCIES),
            f"mount --rbind /dev {root}/dev",
            f"mount --rbind /proc {root}/proc",
        ]
        for inside, (outside, writable) in mounts.items():
            self._make_place(inside)
            steps += _bound(root, str(outside), inside, writable=writable)
        said = " ".join(
            shlex.quote(f"{name}={value}")
            for name, value in environment.items()
        )
        run = " ".join(shlex.quote(word) for word in words)
        steps.append(
            f"exec chroot {root} /usr/bin/setpriv --reuid {uid} --regid {gid}"
            " --clear-groups --no-new-privs --inh-caps=-all"
            f" --bounding-set=-all /usr/bin/env -i {said} {run}"
        )
        unshare = ["unshare", "--mount", "--propagation", "private"]
        if os.getuid() != 0:
            message = (
                "only root can run a process with the root and the user of"
                " the image: run the tests as root, in a container for example"
            )
            raise RuntimeError(message)
        return [*unshare, "sh", "-e", "-c", "\n".join(steps)]

    def _make_place(self, inside: str) -> None:
        """Make what something is mounted on; as an engine does."""
        (self.folder / inside.lstrip("/")).mkdir(parents=True, exist_ok=True)


def _bound(
    root: Path, outside: str, inside: str, *, writable: bool = False
) -> list[str]:
    place = f"{root}{inside}"
    bind = f"mount --bind {shlex.quote(outside)} {shlex.quote(place)}"
    if writable:
        return [bind]
    return [bind, f"mount -o remount,bind,ro {shlex.quote(place)}"]
