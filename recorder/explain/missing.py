"""What would have told more, had it been recorded."""

from recorder.explain.causes import Case
from recorder.explain.signs import Subject
from recorder.explain.verdict import Happened, Missing, Verdict

__all__ = ["missing"]


def missing(case: Case, verdict: Verdict) -> list[Missing]:
    """Name the sources that were not there and what they would tell."""
    found = []
    decided = verdict.decision
    if not case.audited and verdict.happened != Happened.DEGRADED:
        found.append(Missing(evidence="audit", would_tell=_audit(verdict)))
    abrupt = decided is None and verdict.happened == Happened.REBOOT
    if abrupt and (verdict.fault is None or verdict.confidence != "proven"):
        found.append(
            Missing(
                evidence="bmc",
                would_tell="whether power was lost or the machine was reset",
            )
        )
        found.append(
            Missing(
                evidence="pstore",
                would_tell="whether the kernel panicked, and where",
            )
        )
    if (
        verdict.happened == Happened.REBOOT
        and case.first(Subject.SHUTDOWN) is None
    ):
        found.append(
            Missing(
                evidence="shutdownGracePeriod",
                would_tell="whether the system was shut down or just stopped:"
                " without this setting kubelets announce no shutdown",
            )
        )
    return found


def _audit(verdict: Verdict) -> str:
    decided = verdict.decision
    if decided is None:
        return "whether anybody asked for it"
    if decided.actor is None or decided.actor.name is None:
        return f"who decided the {decided.decision.value}"
    return f"whether somebody acts behind {decided.actor.name}"
