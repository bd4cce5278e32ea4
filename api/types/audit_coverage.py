"""How much of what changed the audit log explains."""

from typing import Self

from api.describing import described
from api.types.coverage import Coverage
from recorder.questions import audit_coverage as counted

__all__ = ["AuditCoverage"]


@described
class AuditedResource:
    """How many versions of one resource have an author."""

    resource: str

    versions: int
    """Those that a watch told one by one."""

    authored: int
    """Those that an audit record made."""

    share: float | None


@described
class AuditCoverage:
    """How much of what changed the audit log explains."""

    audited: bool
    """Whether audit records are in the log at all."""

    resources: list[AuditedResource]

    records: int

    unmatched: int
    """Records that made a version that is no entry, such as heartbeats."""

    coverage: Coverage

    @classmethod
    def of(cls, found: counted.AuditCoverage) -> Self:
        """Take it from an answer."""
        return cls(
            audited=found.audited,
            resources=[
                AuditedResource(
                    resource=one.resource,
                    versions=one.versions,
                    authored=one.authored,
                    share=one.share,
                )
                for one in found.resources
            ],
            records=found.records,
            unmatched=found.unmatched,
            coverage=found.coverage,
        )
