"""Everything that a recording needs, in the order in which to fix it.

First the machine and a site's rules, then the cluster, then the database and
the log in it, the redaction key last. Nothing is changed, and each check has a
time limit. Checks that depend on one that failed are reported as skipped.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from recorder.doctor.check import Check
from recorder.doctor.cluster import ClusterProbe, look_at_cluster
from recorder.doctor.database import DatabaseProbe, look_at_database
from recorder.doctor.folder import (
    FOLDER,
    PROGRAMS,
    FolderFacts,
    ProgramFacts,
    look_at_folder,
)
from recorder.doctor.key import look_at_key
from recorder.doctor.limits import look_at_files, look_at_shared_memory
from recorder.doctor.metrics_store import look_at_metrics
from recorder.doctor.rules import look_at_notifications, look_at_rules
from recorder.doctor.slurm import SlurmFacts, look_at_slurm
from recorder.measuring.checking import Checked
from recorder.model.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """The probes for everything that the settings name."""

    folder: Callable[[], FolderFacts]
    programs: Callable[[], ProgramFacts]
    cluster: Callable[[], ClusterProbe]
    database: Callable[[], AbstractAsyncContextManager[DatabaseProbe] | None]
    """Opens it as it is; None if nothing was ever recorded."""

    slurm: Callable[[], Awaitable[SlurmFacts]]
    """Asks Slurm once; raises why it cannot be polled."""

    metrics: Callable[[], Awaitable[Sequence[Checked]]]
    """Asks the metrics store about some nodes; raises why it cannot be."""

    key_id: Callable[[], str]
    resources: int
    """How many resources are watched at most; no cluster serves all of them.
    """


async def checkup(settings: Settings, probes: Probes) -> AsyncIterator[Check]:
    """Check everything, one thing after the other; change nothing."""
    failed = None
    async for check in _machine(settings, probes):
        yield check
        if not check.ok and check.name in {FOLDER, PROGRAMS}:
            failed = failed or check.name
    for check in (
        *look_at_rules(settings.knowledge),
        *look_at_notifications(settings.notify_file),
    ):
        yield check
    cluster = await look_at_cluster(probes.cluster)
    for check in cluster.checks:
        yield check
    watched = cluster.resources
    yield look_at_files(probes.resources if watched is None else watched)
    for check in (
        *await look_at_slurm(settings, probes.slurm),
        *await look_at_metrics(settings, probes.metrics),
    ):
        yield check
    database = await look_at_database(
        settings, probes.database, cluster.uid, because=failed
    )
    for check in database.checks:
        yield check
    for check in look_at_key(settings, probes.key_id, database.keys):
        yield check


async def _machine(settings: Settings, probes: Probes) -> AsyncIterator[Check]:
    folder = look_at_folder(settings, probes.folder, probes.programs)
    async for check in folder:
        yield check
    if settings.database_url is None:
        for check in look_at_shared_memory():
            yield check
