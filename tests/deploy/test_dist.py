"""What `make dist` builds, and the workflow that releases it."""

import hashlib
import json
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from recorder import __version__
from tests.cluster.binaries import ACTIONLINT, built
from tests.deploy.dist import LOCK, TREE, make, sbom


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "dist"
    make(folder)
    return folder


def test_a_release_is_whole(dist: Path) -> None:
    wheel = dist / f"kube_recorder-{__version__}-py3-none-any.whl"
    assert "recorder/cli/main.py" in zipfile.ZipFile(wheel).namelist()
    with tarfile.open(dist / f"kube_recorder-{__version__}.tar.gz") as sdist:
        assert any(name.endswith("/migrations/env.py")
                   for name in sdist.getnames())  # fmt: skip
    with tarfile.open(dist / f"recorder-{__version__}.tgz") as chart:
        assert "recorder/values.yaml" in chart.getnames()
    sums = (dist / "SHA256SUMS").read_text().splitlines()
    assert {line.split()[1] for line in sums} == {
        file.name for file in dist.iterdir()
    } - {"SHA256SUMS"}
    for line in sums:
        digest, name = line.split()
        content = (dist / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest


def test_every_locked_package_is_in_the_sbom() -> None:
    document = json.loads(sbom())

    named = {(c["name"], c["version"]) for c in document["components"]}
    locked = {
        tuple(line.split(" ")[0].split("=="))
        for line in LOCK.read_text().splitlines()
        if "==" in line and not line.startswith(" ")
    }
    assert named == locked
    assert all(one["hashes"] for one in document["components"])


def test_the_workflow_of_a_release_is_valid() -> None:
    flows = sorted((TREE / ".github/workflows").glob("*.yaml"))
    done = subprocess.run(
        [built(ACTIONLINT), "-shellcheck=", "-pyflakes=", *flows],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
