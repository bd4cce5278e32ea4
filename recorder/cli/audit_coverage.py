"""`recorder audit coverage`: which versions have an author."""

from typing import TYPE_CHECKING

from recorder.cli.answering import Answered, answer_command
from recorder.cli.options import output_option
from recorder.cli.output import note, print_document, print_lines

if TYPE_CHECKING:
    from recorder.answers.audit_coverage import AuditCoverage

__all__ = ["coverage"]


@answer_command("audit_coverage", output_option("table", "json", "yaml"))
def coverage(found: "Answered[AuditCoverage]") -> None:
    r"""Count the versions of objects that an audit record made.

    A version without an author shows what the audit policy leaves out, or
    that records were lost. The whole window is read: give one.

    \b
    Example:
      recorder audit coverage --since 1h
    """
    from recorder.answers.audit_coverage import (
        audit_coverage_lines,
        audit_coverage_notes,
    )

    answer = found.answer
    if found.output == "table":
        print_lines(audit_coverage_lines(answer))
    else:
        print_document(answer, found.output)
    for line in audit_coverage_notes(answer):
        note(line)
