"""Being a plugin of kubectl: `kubectl recorder`, and its completion.

kubectl runs ``kubectl-recorder`` for ``kubectl recorder``, and asks
``kubectl_complete-recorder`` what to offer: it gives the words so far and the
one that is begun, and reads a candidate a line, with a tab before its
description, then a number that says what to make of them.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

import click
from click.shell_completion import ShellComplete

from recorder.cli.main import main, run

NAME = "kubectl recorder"
NO_FILES = ":4"
"""Cobra's directive: offer no names of files besides."""

FILES = ":0"
"""Cobra's directive: what the shell would do by itself."""


def plugin() -> NoReturn:
    """Run the command line under the name by which it was called."""
    run(name=NAME)


def complete(arguments: Sequence[str] | None = None) -> None:
    """Print what could follow, as kubectl reads it."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    *before, begun = words or [""]
    offered = ShellComplete(main, {}, NAME, "").get_completions(before, begun)
    for item in offered:
        if item.type == "plain":
            click.echo(f"{item.value}\t{item.help or ''}".rstrip("\t"))
    wants_files = any(item.type != "plain" for item in offered)
    click.echo(FILES if wants_files else NO_FILES)
