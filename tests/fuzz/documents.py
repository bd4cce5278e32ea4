"""Documents through admission and classification, one at a time."""

import random
from datetime import UTC, datetime

from recorder.facts.classify import (
    draft,
    lease_renewed_at,
    node_ready,
    read_head,
    read_object,
    substance,
)
from recorder.model.entry import Operation
from recorder.model.errors import InputError
from recorder.model.observation import (
    WATCH,
    AuditRecorded,
    CloudEventPosted,
    ListPage,
    Observation,
    Polled,
    WatchFrame,
)
from recorder.model.reference import Resource
from tests.fuzz.checks import (
    REDACTION,
    check_admitted,
    check_draft,
    check_masked,
    documents_of,
    refusals,
)
from tests.fuzz.mutation import cut_up, mutated, seeded
from tests.fuzz.seeds import audits

__all__ = ["check_document", "check_head", "check_posted", "make_document"]
__all__ += ["make_head", "make_posted"]

AT = datetime(2026, 11, 21, 3, 18, tzinfo=UTC)
RESOURCES = tuple(
    Resource.parse(text)
    for text in (
        "v1/pods",
        "v1/events",
        "v1/nodes",
        "v1/secrets",
        "events.k8s.io/v1/events",
        "coordination.k8s.io/v1/leases",
        "example.com/v1/trainings",
    )
)


def make_document(chance: random.Random) -> bytes:
    return mutated(seeded(chance)[0], chance)


def check_document(raw: bytes, chance: random.Random) -> list[str]:
    """Check a document in a frame or a page; return the refusals."""
    resource = chance.choice(RESOURCES)
    observation: Observation
    if chance.random() < 0.8:
        observation = WatchFrame(
            observed_at=AT, resource=resource, type="MODIFIED", object=raw
        )
    else:
        observation = ListPage(
            observed_at=AT,
            resource=resource,
            resource_version="7",
            items=[raw, b"{}"],
            more=False,
        )
    # A list or watch decodes what is around a document before this.
    served = chance.random() < 0.3 and _is_json(raw)
    admitted = check_admitted(observation, served=served)
    for one in admitted:
        for clean, _, _ in documents_of(one):
            check_classified(clean, resource)
    return refusals(admitted)


def _is_json(raw: bytes) -> bool:
    try:
        REDACTION.document(raw, resource=None)
    except InputError:
        return False
    return True


def check_classified(clean: bytes, resource: Resource) -> None:
    """Fail unless a document can be described, or is refused as none."""
    for operation in (Operation.MODIFIED, Operation.LISTED):
        try:
            made = draft(
                read_object(clean, resource=resource),
                kind=None,
                operation=operation,
                observed_at=AT,
                source=WATCH,
            )
        except InputError:
            assert not clean.lstrip().startswith(b'{"'), "an object refused"
            return
        check_draft(made)
    read_head(clean)
    substance(clean, resource)
    node_ready(clean)
    lease_renewed_at(clean)


def make_posted(chance: random.Random) -> bytes:
    raw = make_document(chance)
    if chance.random() < 0.5:
        return mutated(chance.choice(audits()), chance)
    if chance.random() < 0.5:
        plural = chance.choice((b"secrets", b"pods", b"secrets"))
        return (
            b'{"kind":"Event","objectRef":{"resource":"%b"},'
            b'"requestObject":%b}' % (plural, raw)
        )
    return raw


def check_posted(raw: bytes, chance: random.Random) -> list[str]:
    """Check an audit record, a CloudEvent or the answer of a poll."""
    observation: Observation
    match chance.randrange(3):
        case 0:
            observation = AuditRecorded(observed_at=AT, event=raw)
        case 1:
            observation = CloudEventPosted(observed_at=AT, event=raw)
        case _:
            observation = Polled(
                observed_at=AT, resource="slurm/jobs", items=[b"{}", raw]
            )
    admitted = check_admitted(observation)
    return refusals(admitted)


def make_head(chance: random.Random) -> bytes:
    """Make what was torn: the beginning, the end, or what is between."""
    return chance.choice(cut_up(make_document(chance), chance))[:4096]


def check_head(torn: bytes, chance: random.Random) -> list[str]:
    """Check the masking of bytes that are no document."""
    del chance
    check_masked(REDACTION.refused(torn), torn)
    return []
