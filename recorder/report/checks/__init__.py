"""Judgements of `recorder doctor`: what is missing, and what to do about it.

Pure: what was found is passed in, what to think of it comes out. Who looks,
and at what, is `recorder.wiring.checkup`.
"""

from recorder.report.checks.check import (
    Check,
    check_lines,
    checks_document,
    untried,
)

__all__ = ["Check", "check_lines", "checks_document", "untried"]
