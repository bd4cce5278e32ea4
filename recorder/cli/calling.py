"""Lines to type again, with the name by which the program was called."""

import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import click

from recorder.cli.given import given_places

NAME = "recorder"
PLUGIN = "kubectl-recorder"

_HINT = re.compile(r"`recorder(?= [a-z])")


def called(
    program: str, found: Callable[[str], str | None] = shutil.which
) -> str:
    """Return what calls this program once more from the same folder.

    Args:
        program: the file that was run.
        found: says which file a name alone would run.
    """
    path = Path(program)
    if path.name == PLUGIN:
        return "kubectl recorder"
    if path.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m {NAME}"
    if path.name != NAME:
        return NAME
    there = found(NAME)
    if there is not None and Path(there).resolve() == path.resolve():
        return NAME
    return shlex.quote(program)


def to_type(command: str) -> str:
    """Return a whole line to type, which asks the same as this process."""
    ctx = click.get_current_context(silent=True)
    places = () if ctx is None else given_places(ctx)
    return " ".join([called(sys.argv[0]), *map(shlex.quote, places), command])


def as_typed(text: str) -> str:
    """Return a text with its hints, such as `recorder up`, as typed here."""
    name = called(sys.argv[0])
    return _HINT.sub(lambda _: f"`{name}", text)
