"""Documents that no line can hold: described instead.

Bytes that are not JSON, or nested so deeply that a reader might fail, would
end the tape for every reader. They become a `refused` frame, like refused
input everywhere else.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256

from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    InputRefused,
    ListPage,
    Observation,
    Polled,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.tape.wire import UnwritableError, written_document

_Documented = WatchFrame | ListPage | AuditRecorded | CloudEventPosted | Polled

HEAD_BYTES_MAX = 4096
"""How much is kept of a document that no line can hold."""


def described(observation: Observation) -> Iterator[Observation]:
    """Yield what can be written in place of an observation.

    A page keeps the documents that can be written, after the others.
    """
    match observation:
        case WatchFrame(object=document):
            yield from _sifted(observation, [document])
        case AuditRecorded(event=document) | CloudEventPosted(event=document):
            yield from _sifted(observation, [document])
        case ListPage(items=items) | Polled(items=items):
            kept = yield from _sifted(observation, items)
            yield replace(observation, items=kept)
        case _:
            yield observation


def _sifted(
    observation: _Documented, documents: Sequence[bytes]
) -> Generator[Observation, None, list[bytes]]:
    """Describe those that cannot be written and return the others."""
    kept = []
    for document in documents:
        try:
            written_document(document)
        except UnwritableError as exc:
            yield _refusal(observation, document, str(exc))
        else:
            kept.append(document)
    return kept


def _refusal(
    observation: _Documented, document: bytes, reason: str
) -> InputRefused:
    resource = getattr(observation, "resource", None)
    return InputRefused(
        observed_at=observation.observed_at,
        resource=resource if isinstance(resource, Resource) else None,
        head=document[:HEAD_BYTES_MAX],
        sha256=sha256(document).hexdigest(),
        length=len(document),
        reason=reason,
        source=observation.source,
    )
