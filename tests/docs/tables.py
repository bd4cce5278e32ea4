"""The parts of the documentation that are written from the code.

Each is between two marks in its page. ``python -m tests.docs.tables``
writes them anew; a test sees that this changes nothing.
"""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import click
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

from api.http.measuring import Measures
from recorder.cli.main import main
from recorder.doctor.health.metrics import exposition
from recorder.doctor.health.notifying import notify_exposition
from recorder.intake.progress import ClaimCounts, Progress, Received
from recorder.intake.state import OpenGap, ResumePoint, StreamState
from recorder.model.settings import PREFIX, Settings
from recorder.notification.sending import Counters, NotifyProgress
from recorder.wiring.measuring import MeasureProgress
from tests.docs.blocks import ROOT
from tests.docs.explaining import controllers, decisions, faults

__all__ = ["PARTS", "metric_names", "rewritten"]

WIDTH = 78


def settings_table() -> str:
    """Return every setting with its default and its meaning."""
    tree = ast.parse(dedent(inspect.getsource(Settings)))
    body = tree.body[0].body  # type: ignore[attr-defined]
    meanings = {
        ast.unparse(field.target): ast.literal_eval(text.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
    rows = [
        f"| `{field.name}` | `{PREFIX}{field.name.upper()}` |"
        f" {_default(field.default)} | {_prose(meanings[field.name])} |"
        for field in fields(Settings)
    ]
    head = "| setting | environment | default | meaning |\n|---|---|---|---|"
    return "\n".join([head, *rows])


def _duration(value: timedelta) -> str:
    """Write a duration as an operator would."""
    seconds = value.total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"


def _default(value: object) -> str:
    match value:
        case None | Path():
            return ""
        case bool():
            return f"`{str(value).lower()}`"
        case timedelta():
            return f"`{_duration(value)}`"
        case tuple():
            return "`[]`"
        case float():
            return f"`{value:g}`"
        case _:
            return f"`{value}`"


def _prose(text: str) -> str:
    words = re.sub(r"`{1,2}([^`]+)`{1,2}", r"`\1`", " ".join(text.split()))
    return words.replace("|", "\\|")


def metrics_table() -> str:
    """Return every metric with its labels and its meaning."""
    rows = [
        f"| `{name}` | {kind} | {', '.join(f'`{one}`' for one in labels)} |"
        f" {says} |"
        for name, kind, labels, says in _metrics()
    ]
    head = "| metric | type | labels | meaning |\n|---|---|---|---|"
    return "\n".join([head, *rows])


def metric_names() -> list[str]:
    """Name every metric as it is scraped."""
    return [name for name, *_ in _metrics()]


def _metrics() -> Iterator[tuple[str, str, list[str], str]]:
    """Yield those of the recorder, of the API, and of what follows a log."""
    measures = Measures()
    measures.answered("why", 200, 0.1)
    listed: set[str] = set()
    notifying = notify_exposition(notifier())
    measuring = MeasureProgress().exposition()
    texts = (exposition(busy()), measures.exposition(), notifying, measuring)
    for text in texts:
        for family in _families(text.decode()):
            name = family[0]
            if name not in listed and name.startswith("recorder_"):
                listed.add(name)
                yield family


def _families(text: str) -> Iterator[tuple[str, str, list[str], str]]:
    for family in text_string_to_metric_families(text):
        labels = {label for s in family.samples for label in s.labels}
        suffix = {"counter": "_total", "info": "_info"}.get(family.type, "")
        name = family.name.removesuffix(suffix) + suffix
        yield name, family.type, sorted(labels), family.documentation


def busy() -> Progress:
    """Make a recording in which there is something of everything."""
    now = datetime.now(UTC)
    gap = OpenGap(position=1, reason="r", since=None, resource_version=None)
    point = ResumePoint(state=StreamState.LIVE, vouched_until=now, gap=gap)
    progress = Progress(
        database_bytes=1,
        budget_bytes=1,
        streams={("watch", "v1/pods"): point},
        checkpointed_at=now,
        committed_at=now,
        retained_at=now,
        archived_until=now,
        received=Received(lag_seconds=1.0),
        claims=ClaimCounts(accepted=Counter(ufm=1), refused=Counter(token=1)),
    )
    progress.frames["v1/pods", "ADDED"] = progress.gaps["r"] = 1
    progress.gap_seconds["v1/pods"] = 1
    return progress


def notifier() -> NotifyProgress:
    """Make a process that notifies and has done something of everything."""
    rules = {"rule": None}
    counters = Counters(*(dict.fromkeys(rules, 1) for _ in range(3)))
    progress = NotifyProgress(counters, ["rule"])
    progress.judged(1, datetime.now(UTC))
    return progress


def reference() -> str:
    """Return the help of every command."""
    return "\n\n".join(_helps(main, ["recorder"]))


SHARED = re.compile(
    r"^ +(?:--cluster NAME\|UID|--log ID|-h, --help|--no-headers) .*\n"
    r"(?: {10,}\S.*\n)*",
    re.MULTILINE,
)
STATUS = re.compile(r"\n\n  Exit status: (?:.+\n)*.+$")
"""What all commands share; the page says it once."""


def _helps(command: click.Command, words: list[str]) -> Iterator[str]:
    result = CliRunner().invoke(
        main,
        [*words[1:], "--help"],
        prog_name="recorder",
        terminal_width=WIDTH,
        max_content_width=WIDTH,
    )
    name = " ".join(words)
    text = result.output.rstrip()
    if len(words) > 1:
        text = STATUS.sub("", SHARED.sub("", f"{text}\n").rstrip())
        text = text.removesuffix("Options:").rstrip()
    yield f"## {name}\n\n```text\n{text}\n```"
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for child in command.list_commands(ctx):
            found = command.get_command(ctx, child)
            assert found is not None, "the group lists it"
            yield from _helps(found, [*words, child])


PARTS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "settings": ("docs/reference.md", settings_table),
    "metrics": ("docs/reference.md", metrics_table),
    "commands": ("docs/reference.md", reference),
    "decisions": ("docs/causes.md", decisions),
    "faults": ("docs/causes.md", faults),
    "controllers": ("docs/causes.md", controllers),
}


def rewritten(part: str) -> tuple[str, str]:
    """Return a page as it is, and with the part written anew."""
    page, write = PARTS[part]
    before = (ROOT / page).read_text()
    begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    head, found, rest = before.partition(begin)
    _, found_end, tail = rest.partition(end)
    assert found, f"{page} has no mark {begin}"
    assert found_end, f"{page} has no mark {end}"
    return before, f"{head}{begin}\n\n{write()}\n\n{end}{tail}"


if __name__ == "__main__":
    for part, (page, _) in PARTS.items():
        (ROOT / page).write_text(rewritten(part)[1])
