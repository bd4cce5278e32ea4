"""How much of what changed has an audit record, as lines for people."""

from collections.abc import Sequence

from recorder.questions.audit_coverage import AuditCoverage, AuditedResource
from recorder.render.text import Columns

__all__ = ["audit_coverage_lines", "audit_coverage_notes"]

COLUMNS = ("RESOURCE", "VERSIONS", "WITH RECORD", "SHARE")


def audit_coverage_lines(found: AuditCoverage) -> list[str]:
    """Say of each resource how many versions have a record."""
    columns = Columns(COLUMNS)
    rows = [_row(one) for one in found.resources]
    return [columns.header(rows), *columns.lines(rows)]


def _row(one: AuditedResource) -> list[str]:
    share = f"{one.authored / one.versions:.1%}"
    return [one.resource, f"{one.versions}", f"{one.authored}", share]


def audit_coverage_notes(found: AuditCoverage) -> Sequence[str]:
    """Say what the other records made."""
    if not found.audited:
        return ["no audit records in this log: see the setting audit_logs"]
    said = (
        f"{found.records} audit records; {found.unmatched} made versions that"
        " are no entries: heartbeats, which are counted, and resources that"
        " are not recorded"
    )
    lacking = sum(one.versions - one.authored for one in found.resources)
    if not lacking:
        return [said]
    guessed = (
        f"{lacking} versions have no record: of these, history and who name"
        " the program that managedFields name, never a person"
    )
    return [said, guessed]
