"""Conclusions of a postmortem: summary, contributing factors, action items.

Only what the evidence suggests: an item names the record that suggests it, or
the one that is missing. People add what they decide.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from recorder.answers.impact import Impact
from recorder.answers.sentences import (
    counted,
    counted_parts,
    gpu_hours,
    lasting,
)
from recorder.explain.ending import Ending
from recorder.explain.hit import Hit
from recorder.explain.sentences import lasted
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.hole import Gap
from recorder.model.outcomes import (
    Cause,
    Confidence,
    EndedBy,
    Happened,
    Outcome,
)

RECORD = {
    "audit": "Record the audit log of the API server",
    "bmc": "Send power events of the BMC to Recorder, or note here what its"
    " event log says",
    "pstore": "Collect pstore or kdump of the machine, and note here what they"
    " say",
    "shutdownGracePeriod": "Set shutdownGracePeriod in the configuration of"
    " the kubelet",
}
"""How to record evidence that was missing."""


def factors(verdicts: Sequence[Verdict]) -> Sequence[str]:
    """Return the contributing factors, from the links of verdicts."""
    return list(dict.fromkeys(_factors(verdicts)))


def _factors(verdicts: Sequence[Verdict]) -> Iterator[str]:
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


def action_items(
    verdicts: Sequence[Verdict],
    endings: Sequence[Ending],
    hits: Sequence[Hit],
    gaps: Sequence[Gap],
) -> Sequence[str]:
    """Return the actions that the evidence suggests."""
    items = [*_items(verdicts, hits, gaps)]
    if not verdicts:
        items += _of_endings(endings)
    return list(dict.fromkeys(items))


def _of_endings(endings: Sequence[Ending]) -> Iterator[str]:
    for ending in endings:
        names = ", ".join(ending.pods[:3]) or f"its {ending.part}s"
        if ending.ended_by is EndedBy.CONTAINER_OOM:
            yield f"Raise the memory limit of {names}, or find what uses it"
        elif ending.ended_by is EndedBy.CONTAINER_EXIT:
            what = "container" if ending.part == "Pod" else "script"
            yield f"Read the log of {names}: its {what} failed by itself"
        for one in ending.missing:
            how = RECORD.get(one.evidence, f"Record {one.evidence}")
            yield f"{how}: it would show {one.would_tell.partition(':')[0]}"


def _items(
    verdicts: Sequence[Verdict], hits: Sequence[Hit], gaps: Sequence[Gap]
) -> Iterator[str]:
    for verdict in verdicts:
        yield from _of_node(verdict)
    for hit in hits:
        if hit.running_again_at is None and hit.outcome in {
            Outcome.DOWN,
            Outcome.PREEMPTED,
        }:
            yield f"Bring {hit.workload} back: it is not running"
        elif hit.outcome is Outcome.FAILED:
            yield f"Decide whether to run {hit.workload} again: it failed"
    wanted: dict[str, str] = {
        one.evidence: one.would_tell
        for verdict in verdicts
        for one in verdict.missing
    }
    for evidence, shows in wanted.items():
        how = RECORD.get(evidence, f"Record {evidence}")
        yield f"{how}: it would show {shows.partition(':')[0]}"
    if gaps:
        count = counted(len(gaps), "gap")
        named = ", ".join(str(gap.opened) for gap in gaps[:3])
        yield f"Find out why the recording had {count} here (gap {named})"


def _of_node(verdict: Verdict) -> Iterator[str]:
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
    if verdict.is_out:
        yield f"Return {node} to service, or take it out of the fleet"
    if verdict.clock_skew_seconds:
        yield f"Synchronize the clock of {node}"


def summary(
    subject: str,
    verdicts: Sequence[Verdict],
    endings: Sequence[Ending],
    impact: Impact,
    gaps: Sequence[Gap],
) -> Sequence[str]:
    """Return three texts: what happened and why, the loss, the confidence."""
    what = " ".join(one.sentence for one in endings or verdicts)
    return [
        what or f"No incidents are recorded for {subject}.",
        _cost(impact) if verdicts or not endings else _cost_of(endings),
        _confidence(
            verdicts or endings,
            complete=impact.coverage.complete and not gaps,
        ),
    ]


def _cost_of(endings: Sequence[Ending]) -> str:
    """Return what endings cost that no node caused."""
    pods = {pod for one in endings for pod in (*one.pods, *one.stopped)}
    hours = [one.gpu_hours_lost for one in endings if one.gpu_hours_lost]
    lost = f", at least {gpu_hours(sum(hours))} lost" if hours else ""
    # An ending of very many names some of them.
    count = max([len(pods), *(one.pod_count for one in endings)])
    return f"It ended {counted(count, endings[0].part)}{lost}."


def _cost(impact: Impact) -> str:
    hits = impact.workloads
    if not hits:
        return "No affected workloads are recorded."
    total = impact.totals
    names = ", ".join(str(hit.workload) for hit in hits[:3])
    more = f" and {len(hits) - 3} more" if len(hits) > 3 else ""  # noqa: PLR2004
    still = lasting(hits, impact.coverage.counted_until)
    return (
        f"It affected {names}{more}: {counted_parts(hits)} ended,"
        f" {counted(total.gpus, 'GPU')} affected, at least"
        f" {gpu_hours(total.gpu_hours_lost)} lost"
        f"{'' if still is None else f'; {still}'}."
    )


def _confidence(
    found: Sequence[Verdict] | Sequence[Ending], *, complete: bool
) -> str:
    missing = dict.fromkeys(
        one.evidence for each in found for one in each.missing
    )
    lacking = f"; not recorded: {', '.join(missing)}" if missing else ""
    sure = found[-1].confidence if found else Confidence.UNKNOWN
    whole = (
        "the record is complete"
        if complete
        else "the record has gaps in this window"
    )
    return f"Confidence in the cause: {sure}; {whole}{lacking}."
