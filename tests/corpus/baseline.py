"""The baseline: the conclusion from the last warning alone.

Of each reboot the last Event of type Warning before the boot id changed names
the cause, by the same rules about single Events. It is always sure, as a
person in a hurry is.
"""

from recorder.answers.ports import Reading
from recorder.answers.queries import FactQuery, Purpose
from recorder.explain.knowledge import shipped
from recorder.model.facts import BootChanged, EventOccurred
from tests.corpus.judging import Judged
from tests.corpus.truth import Question, Truth

__all__ = ["judge_baseline"]


async def judge_baseline(
    reading: Reading, question: Question, truth: Truth
) -> list[Judged]:
    """Judge what the last warning before each reboot says is the cause."""
    facts = await reading.facts(
        FactQuery(purpose=Purpose.ALL, nodes=[question.node])
    )
    by_boot = {
        stored.fact.detail.new: stored.entry.position
        for stored in facts
        if isinstance(stored.fact.detail, BootChanged)
    }
    judged = []
    for verdict in truth.verdicts:
        if (
            verdict.id not in question.verdicts
            or verdict.happened != "reboot"
            or verdict.boot_id_after not in by_boot
        ):
            continue
        cause = "unrecorded"
        for stored in facts:
            detail = stored.fact.detail
            if (
                stored.entry.position < by_boot[verdict.boot_id_after]
                and isinstance(detail, EventOccurred)
                and detail.type == "Warning"
            ):
                cause = _named_by(
                    stored.fact.actor or "",
                    detail.reason or "",
                    detail.message or "",
                )
        one = Judged(f"{verdict.node} reboot")
        right = [verdict.cause, *verdict.accept.get("cause", [])]
        one.hold("cause", cause, right, sure=True)
        judged.append(one)
    return judged


def _named_by(reporter: str, reason: str, message: str) -> str:
    rule = shipped().event(reporter, reason, about="Node", message=message)
    if rule is not None and (rule.fault or rule.decision):
        return (rule.fault or rule.decision or "").lower()
    # The last warning is taken for the cause, whatever it is.
    return "other-fault"
