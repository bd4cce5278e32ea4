"""Whether answers can be made of all that a log holds."""

from collections.abc import Sequence

from recorder.report.checks.check import Check
from recorder.report.fact_ports import FactsEnd

__all__ = ["judge_facts"]


def judge_facts(name: str, ends: Sequence[FactsEnd]) -> Check:
    """Judge whether facts end before their log does."""
    where = ", ".join(str(end.entry) for end in ends)
    return Check(
        name=name,
        ok=not ends,
        says=f"facts end at entry {where}, and answers with them"
        if ends
        else "every entry has its facts",
        remedy="run: "
        + "; ".join(f"recorder rederive --log {e.entry.log}" for e in ends)
        + " (recording may go on)",
    )
