"""The programs of the test cluster, each built once and kept.

``python -m tests.cluster.binaries`` builds the control plane, or the module
it is given, and prints where it lies. What is built lies outside the tree, by
the hash of everything that decides it: sources, flags, Go. A lock makes a
second run wait for the first instead of building too.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.toolchain import Go, GoMissingError, find_go

__all__ = [
    "ACTIONLINT",
    "CONTROLPLANE",
    "HELM",
    "KWOK",
    "TROUBLESHOOT",
    "BuildError",
    "Module",
    "built",
    "cache",
]

BUILD_SECONDS = 5400
"""Four minutes cold on two cores; a busy machine gets more."""

REPORT_SECONDS = 10

KEEP_DAYS = 14
"""A program not asked for in this time goes; each has 140 MB."""

KUBERNETES = "v1.36.3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A Go module below this folder, and what to build of it."""

    name: str
    package: str
    stamps: tuple[str, ...] = ()
    """Variables that the linker sets: a released version, as clients see."""

    @property
    def folder(self) -> Path:
        """Where the sources are."""
        return Path(__file__).with_name("go") / self.name

    def sources(self) -> list[Path]:
        """Every file that decides what is built."""
        return sorted(
            path
            for path in self.folder.rglob("*")
            if path.suffix == ".go" or path.name in {"go.mod", "go.sum"}
        )


CONTROLPLANE = Module(
    name="controlplane",
    package=".",
    stamps=(
        f"k8s.io/component-base/version.gitVersion={KUBERNETES}",
        "k8s.io/component-base/version.gitMajor=1",
        "k8s.io/component-base/version.gitMinor=36",
        f"k8s.io/client-go/pkg/version.gitVersion={KUBERNETES}",
    ),
)

KWOK = Module(name="kwok", package="sigs.k8s.io/kwok/cmd/kwok")

HELM = Module(
    name="helm",
    package="helm.sh/helm/v3/cmd/helm",
    # What a chart is rendered for where no cluster is asked.
    stamps=(
        "helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
        "helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=36",
    ),
)

ACTIONLINT = Module(
    name="actionlint", package="github.com/rhysd/actionlint/cmd/actionlint"
)

TROUBLESHOOT = Module(
    name="troubleshoot",
    package="github.com/replicatedhq/troubleshoot/cmd/troubleshoot",
)

MODULES = {
    module.name: module
    for module in (CONTROLPLANE, KWOK, HELM, ACTIONLINT, TROUBLESHOOT)
}


class BuildError(Exception):
    """A module could not be built; the message ends with Go's own words."""


def cache() -> Path:
    """Return the folder for what is built, made if it is not there."""
    chosen = os.environ.get("RECORDER_TEST_CACHE")
    if chosen:
        folder = Path(chosen)
    else:
        users = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        folder = Path(users).expanduser() / "recorder-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def built(module: Module = CONTROLPLANE) -> Path:
    """Return the program of a module, building it if it was not yet.

    Raises:
        BuildError: Go refused.
        GoMissingError: There is no Go and none could be fetched.
    """
    folder = cache()
    with _lock(folder / "build.lock"):
        go = find_go(folder)
        program = folder / f"{module.name}-{_digest(module, go)}"
        if not program.exists():
            _build(module, go, program)
        program.touch()
        return program


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the file for one run at a time, and say so when that is long."""
    with path.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another build", file=sys.stderr)
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _digest(module: Module, go: Go) -> str:
    digest = hashlib.sha256()
    digest.update(repr((go.version, module.package, module.stamps)).encode())
    for path in module.sources():
        digest.update(str(path.relative_to(module.folder)).encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _build(module: Module, go: Go, program: Path) -> None:
    began = time.monotonic()
    print(
        f"building {module.name} with {go.version} "
        "(minutes the first time, then kept)",
        file=sys.stderr,
    )
    unfinished = program.with_name(program.name + ".unfinished")
    stamps = " ".join(f"-X {stamp}" for stamp in module.stamps)
    command = [
        go.command,
        "build",
        "-v",
        "-trimpath",
        "-buildvcs=false",
        "-mod=readonly",
        f"-ldflags=-s -w {stamps}",
        "-o",
        str(unfinished),
        module.package,
    ]
    with subprocess.Popen(
        command,
        cwd=module.folder,
        env=os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"},
        stderr=subprocess.PIPE,
        text=True,
    ) as build:
        last_lines = _follow(build, module.name, began)
    if build.returncode != 0:
        words = "\n".join(last_lines)
        message = f"cannot build {module.name}:\n{words}"
        raise BuildError(message)
    unfinished.rename(program)
    took = time.monotonic() - began
    print(f"built {program} in {took:.0f} s", file=sys.stderr)
    _forget(module, kept=program)


def _follow(
    build: subprocess.Popen[str], name: str, began: float
) -> deque[str]:
    """Report the progress of Go every few seconds; return its last lines."""
    assert build.stderr is not None
    last_lines: deque[str] = deque(maxlen=40)
    last_report = began
    for count, line in enumerate(build.stderr, start=1):
        last_lines.append(line.rstrip())
        now = time.monotonic()
        if now - began > BUILD_SECONDS:
            build.kill()
            last_lines.append(f"stopped after {BUILD_SECONDS} s")
        elif now - last_report > REPORT_SECONDS:
            last_report = now
            print(
                f"building {name}: {now - began:.0f} s, {count} packages",
                file=sys.stderr,
            )
    return last_lines


def _forget(module: Module, *, kept: Path) -> None:
    """Remove what an older state of the module was built to, long ago."""
    oldest = time.time() - KEEP_DAYS * 86400
    for program in kept.parent.glob(f"{module.name}-*"):
        if program != kept and program.stat().st_mtime < oldest:
            program.unlink()


def main(names: list[str]) -> int:
    """Build the modules named, or the control plane, and print the paths."""
    for name in names or [CONTROLPLANE.name]:
        if name not in MODULES:
            known = ", ".join(MODULES)
            print(f"no module {name!r}, there are {known}", file=sys.stderr)
            return 2
        try:
            print(built(MODULES[name]))
        except (BuildError, GoMissingError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
