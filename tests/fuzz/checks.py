"""Invariants of the output for any input."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from recorder.intake.admission import admit
from recorder.intake.redact import Redaction, RedactionRules
from recorder.intake.refusals import HEAD_BYTES
from recorder.intake.state import Batch
from recorder.model.entry import Draft, Operation
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    InputRefused,
    ListPage,
    Observation,
    Polled,
    WatchFrame,
)
from recorder.store.codes import SOURCE_CODES
from tests.fuzz.canaries import CANARY, spellings
from tests.fuzz.oracle import must_not_show, shown, untouched

__all__ = [
    "REDACTION",
    "check_admitted",
    "check_batch",
    "check_draft",
    "check_masked",
    "documents_of",
    "loaded",
    "refusals",
]

REDACTION = Redaction(RedactionRules(), b"a key that only the fuzzer has..")

TEXT_BYTES_MAX = 1_024
"""What an index of PostgreSQL takes without a second thought."""

FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_PLAIN = re.compile(r"[^\x00\ud800-\udfff]*")
_HARMLESS_BEFORE = re.compile(
    rb'"(?:apiVersion|kind|name|namespace|resource|resourceVersion|type|uid'
    rb'|verb)"\s*:\s*"[A-Za-z0-9_.:/-]{0,253}\Z'
)
_KEY_AFTER = re.compile(rb'[A-Za-z0-9_.:/-]{0,127}"\s*:')

Place = tuple[bytes, str | None, str]
"""A document, its resource, and the way in which it was redacted."""


def documents_of(observation: Observation) -> list[Place]:
    """Return the documents of an observation."""
    match observation:
        case WatchFrame(object=raw, resource=resource):
            return [(raw, str(resource), "document")]
        case ListPage(items=items, resource=resource):
            return [(raw, str(resource), "document") for raw in items]
        case AuditRecorded(event=raw):
            return [(raw, None, "audit")]
        case CloudEventPosted(event=raw):
            return [(raw, None, "any")]
        case Polled(items=items):
            return [(raw, None, "any") for raw in items]
        case _:
            return []


def refusals(observations: Iterable[Observation]) -> list[str]:
    """Say of each refusal of what kind it is."""
    return [
        re.split(r"[:0-9\"]", one.reason)[0].strip()[:40]
        for one in observations
        if isinstance(one, InputRefused)
    ]


def check_admitted(
    observation: Observation, *, served: bool = False
) -> list[Observation]:
    """Admit an observation and fail unless it left as it may.

    Each document left redacted or is described by a refusal, and none is
    missing.
    """
    came = documents_of(observation)
    admitted = admit([observation], REDACTION, served=served)
    left = [place for one in admitted for place in documents_of(one)]
    refused = [one for one in admitted if isinstance(one, InputRefused)]
    unpaired = list(left)
    described = {one.sha256: one for one in refused}
    for raw, resource, way in came:
        refusal = described.get(sha256(raw).hexdigest())
        if refusal is not None:
            assert refusal.length == len(raw), "a refusal of another length"
            check_masked(refusal.head, raw)
            check_reason(refusal.reason, raw)
            continue
        assert unpaired, "a document left neither redacted nor refused"
        clean, _, _ = unpaired.pop(0)
        check_clean((raw, resource, way), clean, served=served)
    assert not unpaired, "a document left that did not come"
    for one in admitted:
        if documents_of(one) and one is not observation:
            assert admit([one], REDACTION, served=served) == [one], (
                "redacting twice is not redacting once"
            )
    return admitted


def as_served(raw: bytes) -> bool:
    """Return whether an API server might have written these bytes."""
    if b"Secret" in raw or b"\\u" in raw or b'" ' in raw:
        return False
    try:
        again = json.dumps(
            loaded(raw), ensure_ascii=False, separators=(",", ":")
        )
    except (ValueError, RecursionError):
        return False
    return again.encode("utf-8", "surrogatepass") == raw


def loaded(raw: bytes) -> Any:
    """Decode with the standard library; long integers stay text.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested deeper than the library goes.
    """
    try:
        return json.loads(raw)
    except ValueError as exc:
        if "integer string" not in str(exc):
            raise
        return json.loads(raw, parse_int=str)


def check_clean(came: Place, clean: bytes, *, served: bool) -> None:
    """Fail if a secret is left, or anything else is not."""
    raw, resource, way = came
    if clean != raw:
        assert untouched(raw, clean), "more than redactions was changed"
        loaded(clean)
    for canary in must_not_show(raw, resource, way):
        left = shown(canary, clean) and (not served or as_served(raw))
        assert not left, f"{canary} was left"


def check_masked(head: bytes, raw: bytes) -> None:
    """Fail if masking left anything but names."""
    assert len(head) <= 5 * HEAD_BYTES, "a head beyond its bound"
    assert REDACTION.refused(head) == head, "masking twice is not once"
    for canary in set(CANARY.findall(raw.decode("latin-1"))):
        for spelling in spellings(canary):
            start = head.find(spelling)
            while start >= 0:
                end = start + len(spelling)
                assert _HARMLESS_BEFORE.search(
                    head, max(0, start - 300), start
                ) or _KEY_AFTER.match(head, end), f"{canary} in a head"
                start = head.find(spelling, end)


def check_reason(reason: str, raw: bytes) -> None:
    """Fail if the reason of a refusal repeats the input."""
    for canary in set(CANARY.findall(raw.decode("latin-1"))):
        assert canary not in reason, f"{canary} in a reason"


def check_draft(draft: Draft) -> None:
    """Fail unless PostgreSQL takes every column."""
    assert draft.source in SOURCE_CODES, f"source {draft.source!r}"
    texts = [
        draft.resource,
        draft.resource_version,
        draft.node,
        draft.reason,
        draft.actor,
        *(draft.identity or ()),
    ]
    check_texts(texts)
    check_times([draft.occurred_at], first=FIRST)
    check_times([draft.observed_at])


def check_texts(
    texts: Iterable[str | None], bound: int = TEXT_BYTES_MAX
) -> None:
    for text in texts:
        if text is None:
            continue
        assert _PLAIN.fullmatch(text), f"unstorable: {text[:80]!r}"
        assert len(text.encode()) <= bound, "a text beyond its bound"


def check_times(
    times: Iterable[datetime | None], first: datetime | None = None
) -> None:
    for time in times:
        if time is None:
            continue
        assert time.tzinfo is not None, "a time without a zone"
        assert first is None or time >= first, f"{time} is too early"
        assert time.utcoffset() == UTC.utcoffset(None), "not in UTC"


def check_batch(batch: Batch, observations: Iterable[Observation]) -> None:
    """Fail unless a batch can be written, with an entry for every refusal."""
    hashes = set()
    for _, draft in batch.drafts:
        check_draft(draft)
        if draft.operation is Operation.REFUSED:
            hashes.add(json.loads(draft.raw)["sha256"])
    for observation in observations:
        if isinstance(observation, InputRefused):
            assert observation.sha256 in hashes, "a refusal without an entry"
    # Namespace and name stand for a uid that is missing.
    check_texts(_texts_of_streams(batch), bound=3 * TEXT_BYTES_MAX)
    for head in [*batch.heads.values(), *batch.gone.values()]:
        check_texts([head.resource, head.resource_version, *head.identity])


def _texts_of_streams(batch: Batch) -> Iterator[str | None]:
    for (source, resource), point in batch.streams.items():
        yield from (source, resource)
        yield from (point.completed, point.pending, point.began_version)
        yield from point.seen
        if point.gap is not None:
            yield from (point.gap.reason, point.gap.resource_version)
