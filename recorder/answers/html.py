"""A report as one HTML file, without scripts or other files."""

from collections.abc import Iterator

from recorder.answers.charts import HEIGHT, WIDTH, Chart
from recorder.answers.metrics import KeptMetrics
from recorder.answers.postmortem import Postmortem
from recorder.answers.report import (
    Charts,
    Command,
    Drawing,
    Entries,
    Heading,
    Items,
    Paragraph,
    Part,
    Table,
    report,
)
from recorder.answers.text.lines import escaped
from recorder.answers.text.svg import timeline

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
svg { width: 100%; height: auto; }
figure { margin: 1rem 0; } figcaption { color: var(--muted);
  font-size: .9em; }
svg text { fill: currentColor; }
.chart text { font-size: 11px; }
.chart path { fill: none; stroke: #8888; }
.chart .first { stroke: #c0392b; stroke-width: 2; }
.chart .mark { stroke: #2471a3; stroke-dasharray: 2 3; }
"""


def html(postmortem: Postmortem, *, page: str | None = None) -> str:
    """Return a postmortem as HTML, deterministically."""
    title = f"Postmortem: {postmortem.subject}"
    drawing = timeline(postmortem.evidence, postmortem.coverage)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{escaped(title)}</title>",
            f"<style>{STYLE}</style></head>",
            "<body>",
            f"<h1>{escaped(title)}</h1>",
            *(
                line
                for part in report(postmortem)
                for line in _part(part, page, drawing)
            ),
            "</body></html>",
            "",
        ]
    )


def _part(part: Part, page: str | None, drawing: str) -> Iterator[str]:
    match part:
        case Heading(text, level):
            yield f"<h{level}>{escaped(text)}</h{level}>"
        case Paragraph(text):
            yield f"<p>{escaped(text)}</p>"
        case Table():
            yield from _table(part, page)
        case Items():
            yield from _items(part, page)
        case Drawing():
            yield drawing
        case Charts():
            yield from _figures(part)
        case Command(origin, command):
            yield (
                f'<p class="muted">{escaped(origin)}:'
                f" <code>{escaped(command)}</code></p>"
            )


def _figures(part: Charts) -> Iterator[str]:
    for kept, one in part.kept:
        yield f"<figure>{_svg(kept, one, part)}"
        yield f"<figcaption>{escaped(one.says)}</figcaption></figure>"


def _svg(kept: KeptMetrics, one: Chart, part: Charts) -> str:
    """Draw a chart with its scale, its window and the steps in it."""
    span = max((kept.until - kept.since).total_seconds(), 1.0)
    steps = [
        (f"{(at - kept.since).total_seconds() / span * WIDTH:.1f}", step)
        for at, step in part.marks
        if kept.since <= at <= kept.until
    ]
    label = f'aria-label="{escaped(one.name)} of {escaped(kept.node)}"'
    lines = [
        f'<path class="line{"" if place else " first"}" d="{line.path}">'
        f"<title>{escaped(line.thing)}</title></path>"
        for place, line in enumerate(one.lines)
    ]
    texts = [
        (-90, 12, "start", one.high),
        (-90, HEIGHT, "start", one.low),
        (0, HEIGHT + 16, "start", f"{kept.since:%H:%M:%S}"),
        (WIDTH, HEIGHT + 16, "end", f"{kept.until:%H:%M:%S}"),
    ]
    box = f"-90 0 {WIDTH + 110} {HEIGHT + 20}"
    return "\n".join(
        [
            f'<svg class="chart" viewBox="{box}" role="img" {label}>',
            f'<path d="{one.missing}"/>',
            *(
                f'<path class="mark" d="M{x} 0v{HEIGHT}">'
                f"<title>{escaped(step)}</title></path>"
                for x, step in steps
            ),
            *reversed(lines),
            *(
                f'<text x="{x}" y="{y}" text-anchor="{anchor}">'
                f"{escaped(text)}</text>"
                for x, y, anchor, text in texts
            ),
            "</svg>",
        ]
    )


def _table(table: Table, page: str | None) -> Iterator[str]:
    yield "<table>"
    if any(table.titles):
        titles = "".join(f"<th>{escaped(title)}" for title in table.titles)
        yield f"<thead><tr>{titles}</tr></thead>"
    yield "<tbody>"
    for row in table.rows:
        yield f"<tr>{''.join(f'<td>{_cell(cell, page)}' for cell in row)}</tr>"
    yield "</tbody></table>"


def _items(items: Items, page: str | None) -> Iterator[str]:
    tag = "ol" if items.ordered else "ul"
    box = '<input type="checkbox" disabled> ' if items.open else ""
    yield f"<{tag}>"
    for text, entries in items.items:
        named = _cell(entries, page)
        behind = f" ({named})" if named else ""
        yield f"<li>{box}{escaped(text)}{behind}</li>"
    yield f"</{tag}>"


def _cell(cell: str | Entries, page: str | None) -> str:
    if not isinstance(cell, Entries):
        return escaped(cell)
    names = (f"<code>{escaped(name)}</code>" for name in cell.names)
    if page is None:
        return ", ".join(names)
    return ", ".join(
        f'<a href="{escaped(page + name)}">{shown}</a>'
        for name, shown in zip(cell.names, names, strict=True)
    )
