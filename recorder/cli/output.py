"""Where answers and notes go: data to stdout, everything else to stderr."""

import os
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.calling import as_typed
from recorder.model.errors import RecorderError

if TYPE_CHECKING:
    from recorder.answers.text.shown import Text

GAP = re.compile(r"\S {2,}(?=\S)")
"""Between two columns of a line."""

PIPE_CLOSED = 128 + signal.SIGPIPE

DELETE = 0x7F
"""The first control character that JSON does not escape."""


class OutputError(RecorderError):
    """An answer cannot be written."""

    code = "output"


def print_document(document: Any, form: str) -> None:
    """Print a whole answer as JSON or YAML."""
    if form == "yaml":
        write(yaml_bytes(document))
    else:
        write(json_bytes(document) + b"\n")


def json_bytes(document: Any, *, on_one_line: bool = False) -> bytes:
    """Return JSON, indented for people unless it must be one line."""
    from recorder.model import document as documents

    return documents.json_bytes(document, indented=not on_one_line)


def yaml_bytes(document: Any) -> bytes:
    """Return YAML, its keys in the order in which they are."""
    import yaml

    from recorder.model.document import plain as builtins

    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    dumper.add_multi_representer(
        StrEnum, lambda self, word: self.represent_str(word.value)
    )
    text: str = yaml.dump(
        builtins(document),
        Dumper=dumper,
        sort_keys=False,
        allow_unicode=True,
        width=4096,
    )
    return text.encode()


def print_text(text: "Text", form: str) -> None:
    """Print an answer in lines, or as a document, with its notes."""
    if form != "table":
        print_document(text.document, form)
    elif text.judged:
        print_judged(wrapped(_rejoined(text.lines)))
    else:
        print_lines(wrapped(_rejoined(text.lines)))
    for line in text.notes:
        note(line)


def wrapped(lines: Iterable[str], stream: Any = None) -> Iterator[str]:
    """Break lines at the width of the terminal, below their last column.

    Args:
        lines: of an answer or a note.
        stream: that they are printed to; standard output by default. Lines
            stay as they are if it is not a terminal.
    """
    out: Any = stream or sys.stdout
    if out is None or not out.isatty():
        yield from lines
        return
    width = shutil.get_terminal_size().columns
    for line in lines:
        yield from textwrap.wrap(
            line,
            width,
            subsequent_indent=" " * _last_column(line, width // 2),
            break_long_words=False,
            break_on_hyphens=False,
            expand_tabs=False,
            replace_whitespace=False,
        ) or [line]


def _rejoined(lines: Iterable[str]) -> Iterator[str]:
    """For a terminal, undo the breaks that an answer's text has."""
    if sys.stdout is None or not sys.stdout.isatty():
        yield from lines
        return
    from recorder.answers.why import WIDTH

    last: str | None = None
    for line in lines:
        text = line.lstrip()
        if (
            last
            and text
            and len(line) - len(text) == _last_column(last, WIDTH // 2)
            and len(f"{last} {text.partition(' ')[0]}") > WIDTH
        ):
            last = f"{last} {text}"
            continue
        if last is not None:
            yield last
        last = line
    if last is not None:
        yield last


def _last_column(line: str, end: int) -> int:
    """Return where the last column begins in the first part of a line."""
    columns = [one.end() for one in GAP.finditer(line, 0, end)]
    return max([len(line) - len(line.lstrip()), *columns])


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of text."""
    write("".join(f"{line}\n" for line in lines).encode())


def write_text(text: str) -> None:
    """Write recorded text, byte for byte unless a terminal shows it."""
    if sys.stdout is not None and sys.stdout.isatty():
        from recorder.answers.text.lines import plain

        # Ends of lines and tabs stay: the caller put them there.
        parts = re.split(r"([\n\t])", text)
        text = "".join(p if p in {"\n", "\t"} else plain(p) for p in parts)
    write(text.encode())


def write(content: bytes) -> None:
    """Write to stdout, at once; end quietly if its reader is gone.

    Raises:
        OutputError: it cannot be written.
    """
    out: Any = sys.stdout  # None where it was closed before we began
    if out is None:
        msg = "cannot write the answer: standard output is closed"
        raise OutputError(msg)
    if out.isatty():
        content = _escaped(content)
    try:
        out.buffer.write(content)
        out.buffer.flush()
    except BrokenPipeError:
        # Python would complain when it flushes what is left at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(PIPE_CLOSED) from None
    except OSError as exc:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        msg = f"cannot write the answer: {exc.strerror}"
        raise OutputError(msg) from exc


def _escaped(content: bytes) -> bytes:
    """Escape as in JSON what steers a terminal and JSON leaves as it is."""
    from recorder.answers.text.lines import CONTROLS

    steering = "".join(chr(code) for code in CONTROLS if code >= DELETE)
    text = re.sub(
        f"[{steering}]",
        lambda found: f"\\u{ord(found[0]):04x}",
        content.decode(errors="surrogateescape"),
    )
    return text.encode(errors="surrogateescape")


def note(text: str, *, colour: str | None = None) -> None:
    """Print a note to stderr, in one line unless a terminal is narrower."""
    from recorder.answers.text.lines import plain

    said = "\n".join(wrapped([as_typed(plain(text))], sys.stderr))
    click.echo(paint(said, colour, sys.stderr), err=True)


def labelled(name: str) -> Callable[[str], None]:
    """Return what prints notes of a process beside others, by its name."""
    return lambda text: note(f"{name}: {text}")


def announce(text: str) -> None:
    """Say what is waited for, on a terminal only."""
    if sys.stderr.isatty():
        click.echo(f"{text} ...", err=True)


def paint(text: str, colour: str | None, stream: Any) -> str:
    """Colour a text, if it goes to a terminal that wants colours."""
    if colour is None or not is_coloured(stream):
        return text
    return click.style(text, fg=colour)


def print_judged(lines: Iterable[str]) -> None:
    """Print lines, with what they say of confidence in its colour."""
    out: Any = sys.stdout
    if out is None or not is_coloured(out):
        print_lines(lines)
        return
    from recorder.answers.text.table import CONFIDENCES

    def coloured(found: re.Match[str]) -> str:
        return click.style(found[0], fg=CONFIDENCES[found[1]])

    pattern = re.compile(rf"\((?:({'|'.join(CONFIDENCES)}))\)$")
    print_lines(pattern.sub(coloured, line) for line in lines)


def is_coloured(stream: Any) -> bool:
    """Return whether a stream is a terminal that wants colours."""
    return bool(
        stream.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
