"""Work since the last checkpoint: what a disruption cost beyond the time lost.

A workload that saves its state says so in claims of type `job.checkpoint`
about ``KIND/NAMESPACE/NAME``. What it had computed since the last one before
the hit, and since all of its Pods ran, is lost with it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from recorder.answers.ports import Reading
from recorder.answers.queries import FactQuery, Incarnations, Purpose
from recorder.explain.hit import Hit
from recorder.facts.classify import CLAIM_GROUP, CLAIM_KIND
from recorder.model.facts import Claimed
from recorder.model.observation import CLOUDEVENTS
from recorder.model.outcomes import Outcome

CHECKPOINT: Final = "job.checkpoint"

CLAIMS: Final = (CLAIM_GROUP, CLAIM_KIND)

CHECKPOINTS_MAX: Final = 1_000
"""The newest of a workload that are read: a week, at one in ten minutes."""

WORKLOADS_MAX: Final = 200
"""Of one answer: they are read one after another."""

Name = tuple[str, str, str]


async def with_checkpoints(
    reading: Reading, hits: Sequence[Hit]
) -> Sequence[Hit]:
    """Return hits with the work that was lost since the last checkpoint."""
    if not any(stream.source == CLOUDEVENTS for stream in reading.streams):
        return hits
    names = list(dict.fromkeys(map(_name, hits)))[:WORKLOADS_MAX]
    known = {name: await _checkpoints(reading, name) for name in names}
    return [_with(hit, known.get(_name(hit), ())) for hit in hits]


def hours_since_checkpoint(hits: Iterable[Hit | None]) -> float | None:
    """Return the sum over hits; None if none has a checkpoint before it."""
    found = [
        hours
        for hit in hits
        if hit is not None
        and (hours := hit.gpu_hours_since_checkpoint) is not None
    ]
    return round(sum(found), 4) if found else None


async def lost_since_checkpoint(
    reading: Reading, hits: Iterable[Hit | None]
) -> float | None:
    """Return the work of hits since a checkpoint; None without one."""
    found = [hit for hit in hits if hit is not None]
    return hours_since_checkpoint(await with_checkpoints(reading, found))


def _name(hit: Hit) -> Name:
    return hit.kind, hit.namespace, hit.name


async def _checkpoints(reading: Reading, name: Name) -> list[datetime]:
    """Return when a workload saved its state, the newest times."""
    kind, namespace, own = name
    posted = await reading.names(
        Incarnations(
            kinds=[CLAIMS],
            namespace="",
            name=f"{kind.lower()}/{namespace}/{own}",
        )
    )
    uids = {
        uid
        for one in posted[-CHECKPOINTS_MAX:]
        if (uid := one.identity.uid) is not None
    }
    if not uids:
        return []
    facts = await reading.facts(FactQuery(purpose=Purpose.FAMILY, uids=uids))
    return [
        stored.at
        for stored in facts
        if isinstance(stored.fact.detail, Claimed)
        and stored.fact.detail.type == CHECKPOINT
    ]


def _with(hit: Hit, checkpoints: Iterable[datetime]) -> Hit:
    if hit.outcome is Outcome.SURVIVED:
        return hit
    saved = max((at for at in checkpoints if at <= hit.hit_at), default=None)
    if saved is None:
        return hit
    since = max(filter(None, (saved, hit.worked_since)))
    hours = max(hit.hit_at - since, timedelta()) / timedelta(hours=1)
    lost = round(hours * hit.gpus, 4)
    return replace(hit, gpu_hours_since_checkpoint=lost)
