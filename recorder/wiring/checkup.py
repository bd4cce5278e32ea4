"""What `recorder doctor` looks at, from the cluster to the disk.

A part that cannot be reached is one failed check that says why, and what
depends on it is left out.
"""

import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.errors import RecorderError
from recorder.redact import key_id
from recorder.report.checks import Check
from recorder.settings import Settings
from recorder.sources.watch.rights import Rights, try_rights
from recorder.store.engine import make_engine
from recorder.store.read_checks import (
    check_database,
    check_partitions,
    check_schema_found,
    redaction_keys,
)
from recorder.wiring.database import open_database
from recorder.wiring.reading import is_used
from recorder.wiring.recording import cluster_client, selected
from recorder.wiring.redaction_key import KeyFileError, load_key

__all__ = ["checkup"]

PERCENT = 100

SERVER_INSTEAD = (
    "do what the message says, or name a server with RECORDER_DATABASE_URL"
)


async def checkup(
    settings: Settings, *, on_wait: Callable[[str], None] | None = None
) -> AsyncIterator[Check]:
    """Look at everything, one thing after the other; change nothing."""
    for check in await _cluster(settings):
        yield check
    keys: frozenset[str] = frozenset()
    if not is_used(settings):
        yield Check(
            name="database",
            ok=True,
            says=f'none yet in "{settings.data_dir}"; `recorder up` makes it',
        )
    else:
        checks, keys = await _database(settings, on_wait)
        for check in checks:
            yield check
    if settings.database_url is None:
        yield _disk(settings)
    yield _redaction_key(settings, keys)


async def _cluster(settings: Settings) -> Sequence[Check]:
    name = "cluster"
    try:
        client = cluster_client(settings)
        try:
            identity = await client.identity()
            rights = await try_rights(client, selected(settings))
        finally:
            await client.close()
    except RecorderError as exc:
        remedy = (
            "name the cluster with KUBECONFIG or RECORDER_CONTEXT; see that"
            " `kubectl get nodes` works"
        )
        return [Check(name=name, ok=False, says=str(exc), remedy=remedy)]
    says = f"{identity.name} ({identity.uid}), {identity.server_version}"
    return [Check(name=name, ok=True, says=says), *_rights(rights)]


def _rights(rights: Rights) -> Sequence[Check]:
    if not rights.refused:
        says = f"{rights.tried} resources can be listed and watched"
        return [Check(name="cluster rights", ok=True, says=says)]
    return [
        Check(
            name="cluster rights",
            ok=False,
            says=line,
            remedy="kubectl apply -f deploy/rbac.yaml, and add what you"
            " include beside the built-in resources",
        )
        for line in rights.refused
    ]


async def _database(
    settings: Settings, on_wait: Callable[[str], None] | None
) -> tuple[Sequence[Check], frozenset[str]]:
    checks: list[Check] = []
    try:
        async with _engine(settings, on_wait) as engine:
            checks.extend(await check_database(engine))
            schema = await check_schema_found(engine)
            checks.append(schema)
            if not schema.ok:
                return checks, frozenset()
            checks.append(await check_partitions(engine))
            return checks, await redaction_keys(engine)
    except RecorderError as exc:
        failed = Check(
            name="database",
            ok=False,
            says=str(exc),
            remedy=SERVER_INSTEAD
            if settings.database_url is None
            else "see that it runs, and that RECORDER_DATABASE_URL is right",
        )
        return [*checks, failed], frozenset()


@asynccontextmanager
async def _engine(
    settings: Settings, on_wait: Callable[[str], None] | None
) -> AsyncIterator[AsyncEngine]:
    """Connect without asking for a schema, which is a check of its own."""
    if settings.database_url is not None:
        engine = make_engine(settings.database_url)
        try:
            yield engine
        finally:
            await engine.dispose()
        return
    async with open_database(settings, on_wait=on_wait) as database:
        engine = make_engine(database.dsn("writer"))
        try:
            yield engine
        finally:
            await engine.dispose()


def _disk(settings: Settings) -> Check:
    folder = settings.data_dir
    place = next(path for path in (folder, *folder.parents) if path.is_dir())
    usage = shutil.disk_usage(place)
    free = usage.free / usage.total * PERCENT
    return Check(
        name="disk",
        ok=free >= settings.disk_free_min,
        says=f'{free:.1f} % free where "{folder}" is, and'
        f" {settings.disk_free_min:g} % are kept free",
        remedy="free some room: below that nothing is recorded",
    )


def _redaction_key(settings: Settings, used: frozenset[str]) -> Check:
    name = "redaction key"
    path = settings.redaction_key_file or settings.data_dir / "redaction.key"
    if not path.exists() and settings.redaction_key_file is None:
        return Check(
            name=name,
            ok=not used,
            says=f'there is no "{path}"'
            if used
            else f'none yet; it will be made: "{path}"',
            remedy="restore the file: the log was redacted with it, and"
            " another key refuses to start",
        )
    try:
        found = key_id(load_key(settings))
    except KeyFileError as exc:
        return Check(
            name=name, ok=False, says=str(exc), remedy=f"chmod 600 {path}"
        )
    fits = not used or found in used
    return Check(
        name=name,
        ok=fits,
        says=f'"{path}" has id {found}'
        if fits
        else f'"{path}" has id {found}, the log needs {", ".join(used)}',
        remedy="restore the key of the log, or name it with"
        " RECORDER_REDACTION_KEY_FILE",
    )
