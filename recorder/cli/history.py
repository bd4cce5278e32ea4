"""`recorder history`: every version of an object, and what changed in it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.answering import read_command, read_question
from recorder.cli.asking import judge, open_reading, wait_for
from recorder.cli.options import output_option
from recorder.cli.output import (
    json_bytes,
    note,
    print_lines,
    write,
    yaml_bytes,
)

if TYPE_CHECKING:
    from recorder.answers.history import History, ShownVersion

__all__ = ["history"]


@read_command("history", output_option("table", "json", "yaml", "ndjson"))
def history(ctx: click.Context, /, **given: Any) -> int:
    r"""List every version of an object and what changed.

    Each version is compared with the previous one. The writers are the field
    managers whose managedFields entry changed between the two; if none did, no
    writer is shown. The syntax of field paths is described in the reference.

    \b
    Example:
      recorder history node/gpu-002 --since 2h
      recorder history pod/train/llm-0 -o ndjson | jq -c '.changed[].path'
    """
    return wait_for(_history(ctx, given))


async def _history(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.answers.history import ask_history
    from recorder.answers.versions import heartbeat_notes

    question, present = read_question(ctx, given)
    async with open_reading(ctx) as reading:
        answer = await ask_history(reading, question, now=present)
        if answer.more:
            note(
                f"only the newest {question.limit} versions; for more use"
                " --limit N or --limit all"
            )
        printer = PRINTERS[given["output"]](answer)
        async for page in answer.pages(reading):
            printer.page(page)
        printer.end()
    for line in heartbeat_notes(answer.heartbeats):
        note(line)
    return judge(answer.coverage)


class _Text:
    def __init__(self, answer: "History") -> None:
        self._answer = answer
        self._begun = False

    def page(self, versions: "Sequence[ShownVersion]") -> None:
        from recorder.answers.versions import version_lines

        for version in versions:
            lines = version_lines(version)
            print_lines(["", *lines] if self._begun else lines)
            self._begun = True

    def end(self) -> None:
        if not self._begun:
            note("no versions in this window")


class _Lines(_Text):
    def page(self, versions: "Sequence[ShownVersion]") -> None:
        write(b"".join(line + b"\n" for line in _shown(versions)))
        self._begun = True


class _Json(_Text):
    """One document; its versions are written as they come."""

    def page(self, versions: "Sequence[ShownVersion]") -> None:
        before = b",\n" if self._begun else self._head()
        write(before + b",\n".join(_shown(versions)))
        self._begun = True

    def end(self) -> None:
        tail = json_bytes(self._answer, on_one_line=True)
        head = b"" if self._begun else self._head()
        write(head + b"\n], " + tail.removeprefix(b"{") + b"\n")

    def _head(self) -> bytes:
        head = json_bytes(self._answer.object, on_one_line=True)
        return b'{"object": ' + head + b', "versions": [\n'


class _Yaml(_Text):
    def page(self, versions: "Sequence[ShownVersion]") -> None:
        shown = yaml_bytes(versions)
        write((b"" if self._begun else self._head()) + shown)
        self._begun = True

    def end(self) -> None:
        if not self._begun:
            write(yaml_bytes({"object": self._answer.object, "versions": []}))
        write(yaml_bytes(self._answer))

    def _head(self) -> bytes:
        return yaml_bytes({"object": self._answer.object}) + b"versions:\n"


PRINTERS: Mapping[str, type[_Text]] = {
    "table": _Text,
    "ndjson": _Lines,
    "json": _Json,
    "yaml": _Yaml,
}


def _shown(versions: "Sequence[ShownVersion]") -> list[bytes]:
    return [json_bytes(version, on_one_line=True) for version in versions]
