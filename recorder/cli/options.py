"""Options that several commands share.

The options that say where the log is are allowed before the command and
after it; the last one wins.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from recorder.cli.completing import clusters
from recorder.cli.given import all_of, place_options, remembered_option

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

LIMIT = 100
"""Default number of lines: what a person can read through."""


def cluster_options(command: Decorated) -> Decorated:
    """Add the options that say which cluster is recorded, and into what."""
    options = (
        remembered_option(
            "--kubeconfig",
            metavar="FILE",
            help="Path of the kubeconfig file [RECORDER_KUBECONFIG].",
        ),
        remembered_option(
            "--context",
            metavar="NAME",
            help="Kubeconfig context to use [RECORDER_CONTEXT].",
        ),
        place_options(hidden=True),
    )
    return all_of(options)(command)


def cluster_option(command: Decorated) -> Decorated:
    """Add the option for the cluster of the question."""
    return remembered_option(
        "--cluster",
        metavar="NAME|UID",
        shell_complete=clusters,
        help="Cluster to ask about [RECORDER_CLUSTER]. Default: the only"
        " one, else that of the current context, else the only live one.",
    )(command)


def reading_options(command: Decorated) -> Decorated:
    """Add the options of every command that reads a log."""
    options: tuple[Callable[[Decorated], Decorated], ...] = (
        cluster_option,
        remembered_option(
            "--log",
            type=_Log(),
            metavar="ID",
            help="Exactly this log, a played tape for example; of a registry"
            " of clusters: CLUSTER:ID.",
        ),
        place_options(hidden=True),
    )
    return all_of(options)(command)


def window_options(command: Decorated) -> Decorated:
    """Add the ends of a window."""
    options = (
        click.option(
            "--since",
            metavar="TIME",
            help="From this time on: 2026-11-21T03:18:00Z, or an age: 2h.",
        ),
        click.option(
            "--until",
            metavar="TIME",
            help="End of the window (exclusive): a time or an age.",
        ),
    )
    return all_of(options)(command)


def all_option(command: Decorated) -> Decorated:
    """Add the option to ask every log of the database."""
    return click.option(
        "-A",
        "--all-clusters",
        is_flag=True,
        help="Ask every cluster and tape of the database.",
    )(command)


class _Log(click.ParamType[int | None]):
    """The number of a log, perhaps with its cluster."""

    name = "log"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | None:
        from recorder.model.reference import LogNumber

        if value is None:
            return None
        try:
            number = LogNumber.parse(str(value))
        except ValueError as exc:
            self.fail(str(exc), param, ctx)
        if int(number) < 1:
            self.fail(f'"{value}" is not a log: they begin at 1', param, ctx)
        return number


class Limit(click.ParamType[int | None]):
    """A number, or ``all``."""

    name = "limit"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | None:
        """Return the number; None stands for all."""
        if value is None or value == "all":
            return None
        text = str(value)
        if not text.isdecimal() or int(text) < 1:
            self.fail(f'"{value}" is neither a number nor "all"', param, ctx)
        return int(text)


def limit_option(command: Decorated) -> Decorated:
    """Add the option for the number of the newest."""
    return click.option(
        "--limit",
        type=Limit(),
        default=LIMIT,
        metavar="N|all",
        show_default=True,
        help="Show only the newest N.",
    )(command)


def output_option(
    *formats: str, default: str | None = None
) -> Callable[[Decorated], Decorated]:
    """Add the form of the answer."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(formats),
        default=default or formats[0],
        show_default=True,
        help="Output format.",
    )
