"""The cluster, for `recorder doctor`: reach, clock and rights."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from recorder.errors import RecorderError
from recorder.report.checks import Check, untried
from recorder.report.checks.clocks import ClockReading, judge_clock
from recorder.report.checks.cluster import judge_rights, judge_unreached
from recorder.settings import Settings
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import ForbiddenError
from recorder.sources.watch.rights import try_rights
from recorder.sources.watch.selection import Selection
from recorder.wiring.bounded import within
from recorder.wiring.recording import cluster_client, selected

__all__ = ["ClusterFindings", "look_at_cluster"]

CLUSTER, CLOCK, RIGHTS = "cluster", "cluster clock", "cluster rights"

REACH = timedelta(seconds=20)
TRY_RIGHTS = timedelta(seconds=120)
"""Some hundred resources take ten seconds; a slow server takes longer."""

WHOLE_SECONDS = timedelta(seconds=1)
"""HTTP tells no parts of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFindings:
    """What was found."""

    checks: Sequence[Check]
    uid: str | None = None
    """Of the cluster, if it told."""

    resources: int | None = None
    """How many would be recorded, if that is known."""


async def look_at_cluster(settings: Settings) -> ClusterFindings:
    """Look at the cluster that the settings name.

    Raises:
        ConfigError: the settings choose resources by a pattern that is none.
    """
    selection = selected(settings)
    try:
        client = cluster_client(settings)
    except RecorderError as exc:
        return _unreached(exc)
    try:
        return await _look(client, selection)
    finally:
        await client.close()


async def _look(
    client: ClusterClient, selection: Selection
) -> ClusterFindings:
    checks, uid = [], None
    try:
        identity = await within(REACH, "reach the cluster", client.identity())
    except ForbiddenError as exc:
        # It does answer, and more may be missing than this.
        checks.append(judge_unreached(CLUSTER, exc.code, str(exc)))
    except RecorderError as exc:
        return _unreached(exc)
    else:
        uid = identity.uid
        says = f"{identity.name} ({uid}), {identity.server_version}"
        checks.append(Check(name=CLUSTER, ok=True, says=says))
    checks.append(await _clock(client))
    rights, resources = await _rights(client, selection)
    return ClusterFindings(
        checks=[*checks, *rights], uid=uid, resources=resources
    )


def _unreached(exc: RecorderError) -> ClusterFindings:
    return ClusterFindings(
        checks=[
            judge_unreached(CLUSTER, exc.code, str(exc)),
            untried(CLOCK, CLUSTER),
            untried(RIGHTS, CLUSTER),
        ]
    )


async def _clock(client: ClusterClient) -> Check:
    try:
        before = datetime.now(UTC)
        date = await within(REACH, "ask for the time", client.date())
        after = datetime.now(UTC)
        theirs = parsedate_to_datetime(date or "")
    except RecorderError as exc:
        return judge_unreached(CLOCK, exc.code, str(exc))
    except ValueError:
        says = "the API server does not tell its time"
        return Check(name=CLOCK, ok=True, says=says)
    reading = ClockReading(
        before=before,
        theirs=theirs.astimezone(UTC),
        after=after,
        resolution=WHOLE_SECONDS,
    )
    return judge_clock(CLOCK, "the API server's", reading)


async def _rights(
    client: ClusterClient, selection: Selection
) -> tuple[Sequence[Check], int | None]:
    try:
        rights = await within(
            TRY_RIGHTS, "try the rights", try_rights(client, selection)
        )
    except RecorderError as exc:
        return [judge_unreached(RIGHTS, exc.code, str(exc))], None
    checks = judge_rights(
        RIGHTS,
        tried=rights.tried,
        missing=rights.missing,
        failed=rights.failed,
    )
    return checks, rights.tried
