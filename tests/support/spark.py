"""Spark for tests, with what it needs to read Iceberg tables.

Spark is a package of PyPI, and too large for the common environment
who runs a test: it is installed once beside the other programs of the tests.
Its libraries are of Maven Central, fetched by mvn. All are named by hash.
``python -m tests.support.spark`` fetches them before a test waits for it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cluster.binaries import cache
from tests.support.programs import INSTALL, install

__all__ = ["JARS", "Spark", "spark"]

_HASHES = {
    "pyspark==4.0.1": (
        "9d1f22d994f60369228397e3479003ffe2dd736ba79165003246ff7bd48e2c73"
    ),
    "py4j==0.10.9.9": (
        "c7c26e4158defb37b0bb124933163641a2ff6e3a3913f7811b0ddbe07ed61533"
    ),
}
_PACKAGES = "\n".join(
    f"{name} --hash=sha256:{digest}" for name, digest in _HASHES.items()
)
JARS = {
    "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1": (
        "2192a0881ed0f5773b5a83a8820d2b0b2069beec203028643a1c338551007f09"
    ),
    "org.xerial:sqlite-jdbc:3.53.4.0": (
        "bcb1f51e36f940867e83342f9efbf5968ac44a6bef4d397bb4af7b17b45cd2fb"
    ),
}
_DEBIAN = {"java": "openjdk-17-jre-headless", "mvn": "maven"}
_ASKING = Path(__file__).with_name("spark_asking.py")

SMALL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
}
"""One process with one thread, which connects to no other."""

_SHORT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""It lives for seconds: what a better compiler gains it costs first."""


class Spark(NamedTuple):
    """Where it is."""

    packages: Path
    jars: Sequence[Path]

    def ask(
        self, configuration: Mapping[str, str], queries: Mapping[str, str]
    ) -> dict[str, list[list[Any]]]:
        """Start it, ask, and return the rows by the names of the queries.

        Times and dates are their text.
        """
        jars = ",".join(map(str, self.jars))
        asked = {
            "configuration": {**SMALL, "spark.jars": jars, **configuration},
            "queries": dict(queries),
        }
        with tempfile.TemporaryDirectory(prefix="recorder-spark-") as folder:
            done = subprocess.run(
                [sys.executable, str(_ASKING)],
                input=json.dumps(asked),
                cwd=folder,
                env={
                    **os.environ,
                    "PYTHONPATH": str(self.packages),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    "SPARK_LOCAL_DIRS": folder,
                    "JDK_JAVA_OPTIONS": _SHORT,
                },
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == 0, done.stderr[-4000:]
        found: dict[str, list[list[Any]]] = json.loads(done.stdout)
        return found


def spark() -> Spark:
    """Return Spark, fetched if it is not there yet."""
    _need("java")
    return Spark(_packages(), [_jar(*one) for one in JARS.items()])


def _packages() -> Path:
    names = sha256(_PACKAGES.encode()).hexdigest()
    kept = cache() / f"spark-{names[:16]}"
    if kept.exists():
        return kept
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text(_PACKAGES)
        packages = Path(folder) / "packages"
        _run(
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
            *("--disable-pip-version-check", "--root-user-action", "ignore"),
            *("--no-cache-dir", "--require-hashes", "-r", str(listed)),
            *("--target", str(packages)),
        )
        packages.rename(kept)
    return kept


def _jar(name: str, digest: str) -> Path:
    _, artifact, version = name.split(":")
    kept = cache() / f"{artifact}-{version}.jar"
    if not kept.exists():
        _need("mvn")
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            _run(
                *("mvn", "--batch-mode", "--quiet", "dependency:copy"),
                *(f"-Dartifact={name}", f"-DoutputDirectory={folder}"),
            )
            (Path(folder) / kept.name).rename(kept)
    if sha256(kept.read_bytes()).hexdigest() != digest:
        kept.unlink()
        pytest.fail(
            f"{name} is not the one that the tests name: its hash differs; it"
            " was removed, run them again",
            pytrace=False,
        )
    return kept


def _need(program: str) -> None:
    """Find a program, installing it where that is possible."""
    package = _DEBIAN[program]
    if shutil.which(program) is None:
        install(package)
    if shutil.which(program) is None:
        pytest.fail(
            f"the tests need {program}; run: sudo {' '.join(INSTALL)}"
            f" {package}",
            pytrace=False,
        )


def _run(*words: str) -> None:
    sys.stderr.write(f"{' '.join(words)}\n")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(words, env=environment, stdout=2, check=False)
    if done.returncode != 0:
        pytest.fail(f"this failed: {' '.join(words)}", pytrace=False)


if __name__ == "__main__":
    sys.stderr.write("Spark\n")
    spark()
