"""A postmortem as Markdown, to paste into an issue or a page."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from recorder.documents.impact import Totals
from recorder.documents.postmortem import summary
from recorder.explain.hit import Hit
from recorder.explain.verdict import Step, Verdict
from recorder.questions.postmortem import Postmortem
from recorder.render.coverage import missing_lines
from recorder.render.text import plain
from recorder.render.verdict import doubts, step_says, verdict_rows

__all__ = ["markdown"]


def markdown(postmortem: Postmortem) -> str:
    """Write a postmortem; the same one gives the same bytes."""
    return "\n".join(_lines(postmortem)) + "\n"


def _lines(postmortem: Postmortem) -> Iterator[str]:
    yield f"# Postmortem: {_text(postmortem.node)}, {_day(postmortem)}"
    yield ""
    for sentence in summary(postmortem):
        yield _text(sentence)
    yield ""
    yield "## Timeline"
    yield ""
    yield from _table(
        ("Time (UTC)", "Role", "Entry", "What"),
        [
            (
                _clock(one.sign.stored.at),
                one.role,
                f"`{one.sign.stored.entry}`",
                _text(one.sign.says),
            )
            for one in postmortem.timeline
        ],
    )
    for verdict in postmortem.verdicts:
        yield from _verdict(verdict)
    yield from _impact(postmortem.impact.workloads)
    yield ""
    yield "## What may be missing"
    yield ""
    for line in missing_lines(postmortem.coverage, postmortem.gaps):
        yield f"* {_text(line)}"
    yield ""
    yield f"{_text(postmortem.origin)}: `{postmortem.command}`."


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield ""
    yield f"## Verdict `{verdict.id}`: {verdict.happened}"
    yield ""
    yield _text(verdict.sentence)
    yield ""
    yield from _table(
        ("", ""),
        [(name, _text(value)) for name, value in verdict_rows(verdict)],
    )
    yield ""
    for place, step in enumerate(verdict.steps, 1):
        yield (
            f"{place}. {_clock(step.at)} {step.role}:"
            f" {_text(step_says(step))} ({_entries(step)})"
        )
    for title, items in doubts(verdict):
        if items:
            yield ""
            yield f"{title}:"
            yield ""
            yield from (f"* {_text(item)}" for item in items)


def _entries(step: Step) -> str:
    return ", ".join(f"`{entry}`" for entry in step.entries)


def _impact(hits: Sequence[Hit]) -> Iterator[str]:
    yield ""
    yield "## Impact"
    yield ""
    if not hits:
        yield "No affected workloads are recorded."
        return
    total = Totals.of(hits)
    yield from _table(
        (
            "Workload",
            "Disrupted by",
            "At",
            "Pods",
            "GPUs",
            "Outcome",
            "GPU-hours",
        ),
        [
            (
                _text(str(hit.workload)),
                hit.hit_by,
                _clock(hit.hit_at),
                str(len(hit.pods_hit)),
                str(hit.gpus),
                hit.outcome,
                f"{hit.gpu_hours_lost:.2f}",
            )
            for hit in hits
        ],
    )
    yield ""
    yield (
        f"At least {total.gpu_hours_lost:.2f} GPU-hours: work since the"
        " last checkpoint of each job is not known."
    )


def _table(
    titles: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _day(postmortem: Postmortem) -> str:
    if not postmortem.verdicts:
        return "no incidents"
    return postmortem.verdicts[0].effect.stored.at.strftime("%Y-%m-%d")


def _clock(at: datetime) -> str:
    return at.strftime("%H:%M:%S")


_SPECIAL = str.maketrans(
    {
        "|": "\\|",
        "<": "&lt;",
        ">": "&gt;",
        "*": "\\*",
        "_": "\\_",
        "`": "'",
        "[": "\\[",
        "\n": " ",
        "\r": " ",
    }
)
"""Whoever words an Event must not write the page that it is pasted into."""


def _text(text: str) -> str:
    return plain(text.translate(_SPECIAL))
