"""What a release has, in ``dist``: ``make dist``.

The wheel, the sdist, the chart as a package, an SBOM of the locked packages in
CycloneDX, and the checksums of all. The image is built where an engine is,
from deploy/Containerfile.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from recorder import __version__
from tests.deploy.chart import CHART, helm

__all__ = ["make", "sbom"]

TREE = Path(__file__).parents[2]
LOCK = TREE / "requirements/image.txt"
LOCKED = re.compile(r"([a-z0-9][-a-z0-9._]*)==([^ ;\\\n]+)")
PACKAGE = re.compile(r"(?m)^(?=[a-z0-9])")
SHA256 = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def sbom() -> str:
    """Return the packages of the image's lock, with their hashes."""
    project = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]
    components = []
    for text in PACKAGE.split(LOCK.read_text()):
        if found := LOCKED.match(text):
            name, version = found.groups()
            hashes = [
                {"alg": "SHA-256", "content": one}
                for one in SHA256.findall(text)
            ]
            components.append(
                {
                    "type": "library",
                    "name": name,
                    "version": version,
                    "purl": f"pkg:pypi/{name}@{version}",
                    "hashes": hashes,
                }
            )
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": project["name"],
                "version": __version__,
                "purl": f"pkg:pypi/{project['name']}@{__version__}",
            }
        },
        "components": components,
    }
    return json.dumps(document, indent=2) + "\n"


def make(folder: Path) -> list[Path]:
    """Fill an empty folder; return its files."""
    folder.mkdir(parents=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=TREE,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    helm("package", str(CHART), "--destination", str(folder))
    (folder / f"kube_recorder-{__version__}.cdx.json").write_text(sbom())
    files = sorted(folder.iterdir())
    sums = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in files
    ]
    (folder / "SHA256SUMS").write_text("".join(sums))
    return [*files, folder / "SHA256SUMS"]


def main() -> None:
    """Write dist anew."""
    folder = TREE / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    for file in make(folder):
        print(f"{file.stat().st_size:>10}  {file.relative_to(TREE)}")


if __name__ == "__main__":
    main()
