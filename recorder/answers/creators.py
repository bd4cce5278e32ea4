"""Who created workloads, as the audit log and Slurm record it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from recorder.answers.families import Family
from recorder.answers.kinds import word_for
from recorder.answers.naming import named
from recorder.answers.ports import Reading
from recorder.answers.queries import FactQuery, Purpose
from recorder.explain.knowledge import Knowledge
from recorder.explain.signals.actor import actor_of
from recorder.model.fact import StoredFact
from recorder.model.facts import Requested
from recorder.model.kinds import plural_of
from recorder.model.observation import AUDIT

OBSERVED_LATE: Final = timedelta(minutes=1)
"""How long after the first Pod was observed a request may be dated."""


def name_of(family: Family) -> str:
    """Return the name of a workload as other commands take it."""
    one, of = family.candidate, family.workload
    return named(word_for(one.group, of.kind), of.namespace, of.name)


async def creators_of(
    reading: Reading, families: Sequence[Family], knowledge: Knowledge
) -> Mapping[str, str | None]:
    """Return who created each workload, by its name.

    The creator of a job of Slurm is the user that Slurm names. What is not
    recorded is left out, or None.
    """
    users = {
        name_of(one): names.user for one in families if (names := one.slurm)
    }
    families = [one for one in families if name_of(one) not in users]
    is_audited = any(stream.source == AUDIT for stream in reading.streams)
    if not families or not is_audited:
        return users
    tops = [one.candidate for one in families]
    requests = await reading.facts(
        FactQuery(
            purpose=Purpose.REQUESTS,
            objects={(one.group, one.namespace, one.name) for one in tops},
            until=max(one.began_at for one in tops) + OBSERVED_LATE,
        )
    )
    creations: dict[tuple[str, ...], list[StoredFact]] = {}
    for stored in requests:
        thing, detail = stored.fact.object, stored.fact.detail
        if (
            thing is not None
            and isinstance(detail, Requested)
            and detail.verb == "create"
            and not detail.subresource
            and not detail.is_refused
        ):
            place = plural_of(thing.kind), thing.namespace, thing.name
            creations.setdefault(place, []).append(stored)
    for family in families:
        one = family.candidate
        place = plural_of(one.kind), one.namespace, one.name
        before = [
            stored
            for stored in creations.get(place, ())
            if stored.at <= one.began_at + OBSERVED_LATE
        ]
        if before:
            actor = actor_of(before[-1].fact.actor, knowledge, audited=True)
            users[name_of(family)] = None if actor is None else actor.name
    return users
