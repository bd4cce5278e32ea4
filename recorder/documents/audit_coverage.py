"""How much of what changed has an author, as the public interface shows it."""

from collections.abc import Sequence
from typing import Self

from recorder.coverage.coverage import Coverage
from recorder.model.document import Document
from recorder.questions.audit_coverage import AuditCoverage, AuditedResource

__all__ = ["AuditCoverageDocument"]

DIGITS = 4


class AuditedResourceDocument(Document, frozen=True, kw_only=True):
    """The versions of one resource."""

    resource: str
    versions: int
    authored: int
    share: float | None

    @classmethod
    def of(cls, found: AuditedResource) -> Self:
        """Return the document of a resource."""
        share = found.share
        return cls(
            resource=found.resource,
            versions=found.versions,
            authored=found.authored,
            share=None if share is None else round(share, DIGITS),
        )


class AuditCoverageDocument(Document, frozen=True, kw_only=True):
    """How much of what changed the audit log explains."""

    audited: bool
    resources: Sequence[AuditedResourceDocument]
    records: int
    unmatched: int
    coverage: Coverage

    @classmethod
    def of(cls, found: AuditCoverage) -> Self:
        """Return the document of an answer."""
        return cls(
            audited=found.audited,
            resources=[
                AuditedResourceDocument.of(one) for one in found.resources
            ],
            records=found.records,
            unmatched=found.unmatched,
            coverage=found.coverage,
        )
