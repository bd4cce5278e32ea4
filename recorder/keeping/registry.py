"""The registry of clusters: which database has the log of a cluster.

One recorder a cluster can write into one database, and then there is nothing
to register. Where clusters have databases of their own, a file names them.
"""

import logging
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from recorder.facts.coverage.ports import Log
from recorder.model.errors import ConfigError
from recorder.model.reads import is_of_reads
from recorder.model.reference import CLUSTER_NAME_MAX, LogNumber
from recorder.model.settings import Settings

log = logging.getLogger("recorder.api")

CLUSTERS_MAX = 1000
BYTES_MAX = 1 << 20


class RegistryError(ConfigError):
    """The registry of clusters cannot be used."""

    code = "config.clusters"


def located(settings: Settings, log: int | None = None) -> Settings:
    """Return settings with the database of one cluster of the registry.

    A `database_url` is used as it is. Otherwise the cluster is that of the
    log, if the log is named with one (`LogNumber`; other numbers name none),
    else that of the settings, else the only one of the registry.

    Raises:
        RegistryError: the registry cannot be used or does not have the
            cluster, or no cluster is named and it has several.
    """
    if settings.clusters_file is None or settings.database_url is not None:
        return settings
    registry = read_registry(settings.clusters_file)
    cluster = settings.cluster
    if isinstance(log, LogNumber):
        cluster = log.cluster
    if cluster is None and len(registry) == 1:
        cluster = next(iter(registry))
    if cluster is None or cluster not in registry:
        what = "no cluster is named" if cluster is None else f'not "{cluster}"'
        is_of_log = isinstance(log, LogNumber)
        where = "with --log CLUSTER:NUMBER" if is_of_log else "with --cluster"
        msg = (
            f"{settings.clusters_file} has {len(registry)} clusters, and"
            f" {what}: name one of {', '.join(list(registry)[:10])} {where}"
        )
        advice = "`recorder clusters` lists them, and `-A` asks all"
        raise RegistryError(msg, advice=advice)
    return replace(settings, database_url=registry[cluster], cluster=cluster)


def serves_registry(settings: Settings) -> bool:
    """Return whether all databases of a registry are meant, not one."""
    return (
        settings.clusters_file is not None
        and settings.database_url is None
        and settings.cluster is None
    )


def registered(logs: Iterable[Log], names: Sequence[str]) -> list[Log]:
    """Return the logs of one database whose clusters are registered there.

    Each has a number that says which cluster it is of. What was read through
    the API belongs to the first.
    """
    found = []
    for log in logs:
        own = {log.cluster_name, log.cluster_uid}
        if is_of_reads(log.cluster_uid):
            own = {*names}
        name = next((one for one in names if one in own), None)
        if name is not None:
            found.append(replace(log, id=LogNumber(log.id, name)))
    return found


class RegistryFile:
    """The file of a registry, which is read again when it changes."""

    def __init__(self, path: Path) -> None:
        """Take a file; nothing is read yet."""
        self._path = path
        self._read: tuple[int, ...] | None = None

    def read(self) -> Mapping[str, str]:
        """Return what it says.

        Raises:
            RegistryError: it cannot be read, or is none.
        """
        self._read = self._mark()
        return read_registry(self._path)

    def changed(self) -> Mapping[str, str] | None:
        """Return what it says if it was written since it was read, else None.

        What cannot be used is logged, and what was read before still holds.
        """
        if self._mark() == self._read:
            return None
        try:
            return self.read()
        except RegistryError as exc:
            log.warning("%s; what it said before still holds", exc)
            return None

    def _mark(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns


def read_registry(path: Path) -> Mapping[str, str]:
    """Return the databases of the registry, by the names of clusters.

    Raises:
        RegistryError: it cannot be read, or is none.
    """
    try:
        with path.open("rb") as stream:
            text = stream.read(BYTES_MAX + 1)
        content = tomllib.loads(text[:BYTES_MAX].decode())
    except OSError as exc:
        msg = f"cannot read the registry of clusters {path}: {exc.strerror}"
        raise RegistryError(msg) from exc
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        msg = f"cannot read the registry of clusters {path}: {exc}"
        raise RegistryError(msg) from exc
    registry = content.get("clusters")
    if (
        len(text) > BYTES_MAX
        or content.keys() != {"clusters"}
        or not isinstance(registry, dict)
        or not 0 < len(registry) <= CLUSTERS_MAX
        or not all(isinstance(url, str) for url in registry.values())
        or not all(0 < len(name) <= CLUSTER_NAME_MAX for name in registry)
    ):
        msg = (
            f"cannot use the registry of clusters {path}: it needs one table"
            f" [clusters] with 1 to {CLUSTERS_MAX} lines"
            ' NAME = "postgresql://..."'
        )
        raise RegistryError(msg)
    return registry


def shown(url: str) -> str:
    """Write the address of a database without its user and password."""
    parts = urlsplit(url)
    where = parts.hostname or "a unix socket"
    if parts.hostname and parts.port:
        where += f":{parts.port}"
    return f"PostgreSQL at {where}, database {parts.path.lstrip('/')}"
