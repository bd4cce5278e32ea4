"""What `recorder doctor` looks at, in the order in which one mends it.

First the machine and a site's rules, then the cluster, then the database and
the log in it, the redaction key last. Nothing is changed, and nothing waits
for ever: each look has a time limit. What depends on something that failed is
said to be untried.
"""

from collections.abc import AsyncIterator, Callable

from recorder.report.checks import Check
from recorder.settings import Settings
from recorder.wiring.checkup_cluster import look_at_cluster
from recorder.wiring.checkup_database import look_at_database
from recorder.wiring.checkup_key import look_at_key
from recorder.wiring.checkup_machine import look_at_files, look_at_machine
from recorder.wiring.checkup_rules import look_at_rules

__all__ = ["checkup"]


async def checkup(
    settings: Settings, *, on_wait: Callable[[str], None] | None = None
) -> AsyncIterator[Check]:
    """Look at everything, one thing after the other; change nothing.

    Raises:
        ConfigError: a setting cannot be, a pattern of resources for example.
    """
    failed = None
    async for check in look_at_machine(settings):
        yield check
        if not check.ok and check.name in {"data folder", "embedded server"}:
            failed = failed or check.name
    for check in look_at_rules(settings):
        yield check
    cluster = await look_at_cluster(settings)
    for check in cluster.checks:
        yield check
    yield look_at_files(cluster.resources)
    database = await look_at_database(
        settings, cluster.uid, because=failed, on_wait=on_wait
    )
    for check in database.checks:
        yield check
    for check in look_at_key(settings, database.keys):
        yield check
