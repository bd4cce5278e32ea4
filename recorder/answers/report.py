"""The report on an incident, as parts for any format.

The order and content are defined here; Markdown and HTML only render parts.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple
from urllib.parse import quote

from recorder.answers.charts import Chart
from recorder.answers.coverage import missing_lines
from recorder.answers.impact import Impact
from recorder.answers.metrics import KeptMetrics
from recorder.answers.phases import Phase
from recorder.answers.postmortem import Postmortem
from recorder.answers.sentences import counted, counted_parts, gpu_hours
from recorder.answers.why import doubts, step_says, verdict_rows
from recorder.answers.why_workload import ending_rows
from recorder.explain.ending import Ending
from recorder.explain.hit import Hit
from recorder.explain.sentences import lasted
from recorder.explain.verdict import Verdict


class Heading(NamedTuple):
    """A heading below the title."""

    text: str
    level: int = 2


class Paragraph(NamedTuple):
    """A paragraph of sentences."""

    text: str


class Entries(NamedTuple):
    """Entries of the log, by name."""

    names: Sequence[str]


Cell = str | Entries


class Table(NamedTuple):
    """Rows under titles; each row is understood without the titles."""

    titles: Sequence[str]
    rows: Sequence[Sequence[Cell]]


class Items(NamedTuple):
    """A list: bullets, numbered, or check boxes."""

    items: Sequence[tuple[str, Entries]]
    ordered: bool = False
    open: bool = False
    """Whether items have check boxes."""


class Drawing(NamedTuple):
    """The place of the timeline, in formats that support drawings."""


class Charts(NamedTuple):
    """Metrics over time, each as a small chart with a sentence."""

    kept: Sequence[tuple[KeptMetrics, Chart]]
    marks: Sequence[tuple[datetime, str]]
    """Steps of the incident: when, and what each was."""


class Command(NamedTuple):
    """The command that repeats the report."""

    origin: str
    command: str


Part = Heading | Paragraph | Table | Items | Drawing | Charts | Command

NO_ENTRIES = Entries(())
CHARTS_MAX = 12


def report(postmortem: Postmortem) -> Iterator[Part]:
    """Yield the parts of a report."""
    day = day_of(postmortem)
    for sentence in postmortem.summary:
        yield Paragraph(sentence)
    for ending in postmortem.endings:
        yield from _ending(ending, day)
    if postmortem.verdicts or not postmortem.endings:
        yield Heading("Impact")
        yield from _impact(postmortem.impact, day)
    course = postmortem.phases
    if course:
        yield Heading("Phases")
        yield Table(
            ("Phase", "Time (UTC)", "After", "What", "Entry"),
            [_phase(phase, day) for phase in course],
        )
    for verdict in postmortem.verdicts:
        yield from _verdict(verdict, day)
    yield from _metrics(postmortem)
    yield from _listed("Contributing factors", postmortem.factors)
    yield from _detection(postmortem, course, day)
    items = postmortem.action_items
    if items:
        yield Heading("Action items")
        yield Items([(item, NO_ENTRIES) for item in items], open=True)
    if postmortem.evidence:
        yield Heading("Timeline")
        yield Drawing()
        yield Table(
            ("Time (UTC)", "Role", "What", "Entry"),
            [
                (
                    _clock(one.at, day),
                    one.role,
                    one.says,
                    Entries([str(one.entry)]),
                )
                for one in postmortem.evidence
            ],
        )
    yield Command(postmortem.origin, postmortem.command)


def _phase(phase: Phase, day: date) -> Sequence[Cell]:
    at, after = phase.at, phase.after_seconds
    return (
        phase.phase,
        "not yet" if at is None else _clock(at, day),
        "" if not after else f"+{lasted(timedelta(seconds=after))}",
        phase.says,
        NO_ENTRIES if phase.entry is None else Entries([str(phase.entry)]),
    )


def _metrics(postmortem: Postmortem) -> Iterator[Part]:
    """Yield the metrics that speak for or against the faults."""
    if not postmortem.metrics:
        return
    yield Heading("Metrics")
    charts = [
        (kept, one) for kept in postmortem.metrics for one in kept.charts
    ]
    if charts:
        marks = [
            (step.at, step.role)
            for verdict in postmortem.verdicts
            for step in verdict.steps
        ]
        yield Charts(charts[:CHARTS_MAX], marks)
    lacking = [
        (f"{one.node}: {one.trouble}", Entries([str(one.entry)]))
        for one in postmortem.metrics
        if one.trouble is not None
    ]
    if lacking:
        yield Items(lacking)
    elif not charts:
        yield Paragraph("No metric that was kept speaks of this fault.")


def _detection(
    postmortem: Postmortem, course: Iterable[Phase], day: date
) -> Iterator[Part]:
    """Yield how it was detected, and what was not recorded."""
    yield Heading("Detection, and what could not be seen")
    for phase in course:
        if phase.phase != "detected":
            continue
        if phase.at is None:
            yield Paragraph("Nothing recorded reported it.")
        else:
            after = lasted(timedelta(seconds=phase.after_seconds or 0))
            yield Paragraph(
                f"First reported at {_clock(phase.at, day)}, {after} after it"
                f" started, by {phase.says.rstrip('.')}."
            )
    lines = missing_lines(postmortem.coverage, postmortem.verdict_gaps)
    lacking = {
        f"not recorded: {one.evidence}, which would show {one.would_tell}"
        for missing in (
            *(verdict.missing for verdict in postmortem.verdicts),
            *(ending.missing for ending in postmortem.endings),
        )
        for one in missing
    }
    yield Items([(line, NO_ENTRIES) for line in [*lines, *sorted(lacking)]])


def _ending(ending: Ending, day: date) -> Iterator[Part]:
    yield Heading(f"Disruption: {ending.ended_by}, {_clock(ending.at, day)}")
    yield Paragraph(ending.sentence)
    rows: list[Sequence[Cell]] = [
        (name.capitalize(), value) for name, value in ending_rows(ending)
    ]
    named = Entries([str(ending.id)])
    yield Table(("", ""), [*rows, ("First record", named)])


def _verdict(verdict: Verdict, day: date) -> Iterator[Part]:
    yield Heading(f"Cause: {verdict.node}, {verdict.happened}")
    yield Paragraph(verdict.sentence)
    rows: list[Sequence[Cell]] = [
        (name, value) for name, value in verdict_rows(verdict)
    ]
    yield Table(("", ""), [*rows, ("Verdict", Entries([verdict.id]))])
    yield Items(
        [
            (
                f"{_clock(step.at, day)} {step.role}: {step_says(step)}",
                Entries([str(entry) for entry in step.entries]),
            )
            for step in verdict.steps
        ],
        ordered=True,
    )
    for title, items in doubts(verdict):
        yield from _listed(title, items, level=3)


def _listed(
    title: str, items: Sequence[str], *, level: int = 2
) -> Iterator[Part]:
    if items:
        yield Heading(title, level)
        yield Items([(item, NO_ENTRIES) for item in items])


def _impact(impact: Impact, day: date) -> Iterator[Part]:
    hits, total = impact.workloads, impact.totals
    if not hits:
        yield Paragraph("No affected workloads are recorded.")
        return
    parts = [f"{hit.workload.part.capitalize()}s" for hit in hits]
    yield Table(
        (
            "Workload",
            "Disrupted by",
            "At",
            ", ".join(dict.fromkeys(parts)),
            "GPUs",
            "Outcome",
            "Lost at least",
        ),
        [
            (
                str(hit.workload),
                hit.hit_by,
                _clock(hit.hit_at, day),
                counted_parts([hit]),
                counted(hit.gpus, "GPU"),
                _became(hit),
                gpu_hours(hit.gpu_hours_lost),
            )
            for hit in hits
        ],
    )
    yield Paragraph(
        f"At least {gpu_hours(total.gpu_hours_lost)}: work since the"
        " last checkpoint of each job is not known."
    )


def _became(hit: Hit) -> str:
    again = hit.running_again_at
    if again is None or again <= hit.hit_at:
        return hit.outcome
    return f"{hit.outcome}, ran again after {lasted(again - hit.hit_at)}"


def page_of(postmortem: Postmortem, address: str) -> str:
    """Return the address of an entry on the page, up to its name."""
    nodes = postmortem.question.nodes
    node = quote(nodes[0], safe="") if nodes else ""
    path = f"node/{node}" if node else ""
    return f"{address.rstrip('/')}/{path}?log={postmortem.log.id}&entry="


def day_of(postmortem: Postmortem) -> date:
    """Return the day of a report; times on this day are shown without it."""
    if postmortem.verdicts:
        return postmortem.verdicts[0].at.date()
    if postmortem.endings:
        return postmortem.endings[0].at.date()
    return date.min


def _clock(at: datetime, day: date) -> str:
    other = at.date() != day
    return at.strftime("%Y-%m-%d %H:%M:%S" if other else "%H:%M:%S")
