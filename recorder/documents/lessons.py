"""What an incident leaves to learn: contributing factors and action items.

Only what the evidence suggests. An item names the record or its absence that
suggests it; what people decide to do is theirs to add.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from recorder.explain.sentences import lasted
from recorder.explain.verdict import Judged
from recorder.model.outcomes import Cause, Happened, Outcome
from recorder.questions.postmortem import Postmortem
from recorder.questions.sentences import counted

__all__ = ["action_items", "factors"]

RECORD = {
    "audit": "Record the audit log of the API server",
    "bmc": "Send power events of the BMC to Recorder, or note here what its"
    " event log says",
    "pstore": "Collect pstore or kdump of the machine, and note here what they"
    " say",
    "shutdownGracePeriod": "Set shutdownGracePeriod in the configuration of"
    " the kubelet",
}
"""How to have what was missing the next time."""


def factors(postmortem: Postmortem) -> Sequence[str]:
    """Return what contributed, by the links of the verdicts."""
    return list(dict.fromkeys(_factors(postmortem.verdicts)))


def _factors(verdicts: Sequence[Judged]) -> Iterator[str]:
    for verdict in verdicts:
        node, because, decided = (
            verdict.node,
            verdict.because,
            verdict.decision,
        )
        if because is not None:
            yield (
                f"{because.says} led to the intervention on {node}"
                f" ({because.confidence}; {because.entry})"
            )
        if decided is not None and decided.carried_out_by is not None:
            done, by = decided.carried_out_by.name, decided.actor
            who = "" if not by.name else f", for {by.name}"
            if done:
                yield f"{done} carried it out on {node}{who}"
        if skew := verdict.clock_skew_seconds:
            way = "ahead" if skew > 0 else "behind"
            off = lasted(timedelta(seconds=abs(skew)))
            yield f"the clock of {node} was {off} {way}"
        for one in verdict.contradictions:
            yield (
                f"records about {node} disagree: {one.says}"
                f" ({one.entry}), but {one.but}"
            )


def action_items(postmortem: Postmortem) -> Sequence[str]:
    """Return what the evidence suggests to do."""
    return list(dict.fromkeys(_items(postmortem)))


def _items(postmortem: Postmortem) -> Iterator[str]:
    for verdict in postmortem.verdicts:
        yield from _of_node(verdict)
    for hit in postmortem.impact.workloads:
        if hit.running_again_at is None and hit.outcome in {
            Outcome.DOWN,
            Outcome.PREEMPTED,
        }:
            yield f"Bring {hit.workload} back: it is not running"
        elif hit.outcome is Outcome.FAILED:
            yield f"Decide whether to run {hit.workload} again: it failed"
    wanted: dict[str, str] = {
        one.evidence: one.would_tell
        for verdict in postmortem.verdicts
        for one in verdict.missing
    }
    for evidence, told in wanted.items():
        how = RECORD.get(evidence, f"Record {evidence}")
        yield f"{how}: it would show {told.partition(':')[0]}"
    if postmortem.gaps:
        gaps = counted(len(postmortem.gaps), "gap")
        named = ", ".join(str(gap.opened) for gap in postmortem.gaps[:3])
        yield f"Find out why the recording had {gaps} here (gap {named})"


def _of_node(verdict: Judged) -> Iterator[str]:
    node = verdict.node
    if verdict.cause is Cause.UNRECORDED and verdict.happened not in {
        Happened.JOINED,
        Happened.CORDONED,
    }:
        open_ = [one.cause for one in verdict.rivals if not one.excluded]
        named = f" (not ruled out: {', '.join(open_)})" if open_ else ""
        yield f"Find the cause on {node} itself{named}"
    if verdict.fault is not None and verdict.back_in_service_at is not None:
        yield (
            f"Check that {node} is sound: {verdict.fault.fault} was reported"
            " before it came back into service"
        )
    if verdict.back_in_service_at is None:
        yield f"Return {node} to service, or take it out of the fleet"
    if verdict.clock_skew_seconds:
        yield f"Synchronize the clock of {node}"
