"""A postmortem as one HTML file: nothing is loaded, nothing runs."""

from collections.abc import Iterator, Sequence
from html import escape

from recorder.documents.impact import Totals
from recorder.documents.postmortem import summary
from recorder.explain.hit import Hit
from recorder.explain.verdict import Verdict
from recorder.model.moment import written
from recorder.questions.postmortem import Postmortem
from recorder.render.coverage import missing_lines
from recorder.render.svg import timeline
from recorder.render.verdict import doubts, step_says, verdict_rows

__all__ = ["html"]

STYLE = """
:root { color-scheme: light dark; --line: #8884; --muted: #777; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
code, time { font-family: ui-monospace, monospace; font-size: .9em; }
.muted { color: var(--muted); } .summary { font-size: 1.1rem; }
svg { width: 100%; height: auto; } svg text { fill: currentColor; }
"""


def html(postmortem: Postmortem) -> str:
    """Write a postmortem; the same one gives the same bytes."""
    title = f"Postmortem: {postmortem.node}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style></head>",
            "<body>",
            f"<h1>{escape(title)}</h1>",
            *_body(postmortem),
            "</body></html>",
            "",
        ]
    )


def _body(postmortem: Postmortem) -> Iterator[str]:
    for sentence in summary(postmortem):
        yield f'<p class="summary">{escape(sentence)}</p>'
    yield "<h2>Timeline</h2>"
    yield timeline(postmortem.timeline, postmortem.coverage)
    yield "<table><thead><tr><th>Time (UTC)<th>Role<th>Entry<th>What"
    yield "</tr></thead><tbody>"
    for one in postmortem.timeline:
        at = one.sign.stored.at
        yield (
            f'<tr><td><time datetime="{written(at)}">'
            f"{at:%Y-%m-%d %H:%M:%S}</time>"
            f"<td>{escape(one.role)}<td><code>{one.sign.stored.entry}</code>"
            f"<td>{escape(one.sign.says)}</tr>"
        )
    yield "</tbody></table>"
    for verdict in postmortem.verdicts:
        yield from _verdict(verdict)
    yield from _impact(postmortem.impact.workloads)
    yield "<h2>What may be missing</h2><ul>"
    for line in missing_lines(postmortem.coverage, postmortem.gaps):
        yield f"<li>{escape(line)}</li>"
    yield "</ul>"
    yield (
        f'<p class="muted">{escape(postmortem.origin)}:'
        f" <code>{escape(postmortem.command)}</code></p>"
    )


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield f"<h2>Verdict: {escape(verdict.happened)}</h2>"
    yield f"<p>{escape(verdict.sentence)}</p><table><tbody>"
    yield f"<tr><th>Entry<td><code>{verdict.id}</code></tr>"
    for name, value in verdict_rows(verdict):
        yield f"<tr><th>{name}<td>{escape(value)}</tr>"
    yield "</tbody></table>"
    yield "<ol>"
    for step in verdict.steps:
        entries = ", ".join(f"<code>{entry}</code>" for entry in step.entries)
        yield (
            f"<li><time>{step.at:%H:%M:%S}</time> {step.role}:"
            f" {escape(step_says(step))} ({entries})</li>"
        )
    yield "</ol>"
    for title, items in doubts(verdict):
        if items:
            yield f"<h3>{title}</h3><ul>"
            yield from (f"<li>{escape(item)}</li>" for item in items)
            yield "</ul>"


def _impact(hits: Sequence[Hit]) -> Iterator[str]:
    yield "<h2>Impact</h2>"
    if not hits:
        yield "<p>No affected workloads are recorded.</p>"
        return
    yield "<table><thead><tr><th>Workload<th>Disrupted by<th>At<th>Pods"
    yield "<th>GPUs<th>Outcome<th>GPU-hours</tr></thead><tbody>"
    for hit in hits:
        yield (
            f"<tr><td>{escape(str(hit.workload))}<td>{hit.hit_by}"
            f"<td><time>{hit.hit_at:%H:%M:%S}</time>"
            f'<td class="n">{len(hit.pods_hit)}<td class="n">{hit.gpus}'
            f'<td>{hit.outcome}<td class="n">{hit.gpu_hours_lost:.2f}</tr>'
        )
    total = Totals.of(hits).gpu_hours_lost
    yield "</tbody></table>"
    yield (
        f"<p>At least {total:.2f} GPU-hours: work since the last checkpoint"
        " of each job is not known.</p>"
    )
