"""Options that several commands share, and what was given for them.

The options that say where the log is may stand before the command or after
it; what stands nearer to the end wins.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from recorder.settings import Settings

__all__ = [
    "cluster_options",
    "given_log",
    "limit_option",
    "output_option",
    "place_options",
    "reading_options",
    "read_settings",
    "window_options",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

LIMIT = 100
"""Default number of lines: what a person can read through."""

SETTINGS = ("database_url", "data_dir", "cluster", "kubeconfig", "context")
"""Options that are also settings, under the same name."""


def _remember(
    ctx: click.Context, parameter: click.Parameter, value: object
) -> None:
    if value is None or value is False:
        return
    _given(ctx)[parameter.name or ""] = value
    if ctx.parent is not None:
        # Behind the command: read the settings anew, it wins.
        ctx.obj = read_settings(ctx)


def _given(ctx: click.Context) -> dict[str, Any]:
    """Return what was given so far, before the command and behind it."""
    given: dict[str, Any] = ctx.meta.setdefault(__name__, {})
    return given


def _option(
    *names: str, **attributes: Any
) -> Callable[[Decorated], Decorated]:
    return click.option(
        *names, expose_value=False, callback=_remember, **attributes
    )


def place_options(*, hidden: bool) -> Callable[[Decorated], Decorated]:
    """Add the options that say where the log is."""
    options = (
        _option(
            "--config",
            metavar="FILE",
            hidden=hidden,
            help="TOML configuration file [RECORDER_CONFIG].",
        ),
        _option(
            "--data-dir",
            metavar="FOLDER",
            hidden=hidden,
            help="Data folder of the embedded PostgreSQL [RECORDER_DATA_DIR].",
        ),
        _option(
            "--database-url",
            metavar="URL",
            hidden=hidden,
            help="Use this PostgreSQL server instead [RECORDER_DATABASE_URL].",
        ),
        _option(
            "--debug",
            is_flag=True,
            hidden=hidden,
            help="Print a traceback on errors.",
        ),
    )
    return _all(options)


def cluster_options(command: Decorated) -> Decorated:
    """Add the options that say which cluster is recorded, and into what."""
    options = (
        _option(
            "--kubeconfig",
            metavar="FILE",
            help="Path of the kubeconfig file [RECORDER_KUBECONFIG].",
        ),
        _option(
            "--context",
            metavar="NAME",
            help="Kubeconfig context to use [RECORDER_CONTEXT].",
        ),
        place_options(hidden=True),
    )
    return _all(options)(command)


def reading_options(command: Decorated) -> Decorated:
    """Add the options of every command that reads a log."""
    options = (
        _option(
            "--cluster",
            metavar="NAME|UID",
            help="Cluster to ask about [RECORDER_CLUSTER]. Default: the only"
            " one, else that of the current context.",
        ),
        _option(
            "--log",
            type=click.IntRange(min=1),
            metavar="ID",
            help="Exactly this log, a played tape for example.",
        ),
        place_options(hidden=True),
    )
    return _all(options)(command)


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
    return _all(options)(command)


class _Limit(click.ParamType[int | None]):
    """A number, or ``all``."""

    name = "limit"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | None:
        if value is None or value == "all":
            return None
        text = str(value)
        if not text.isdecimal() or int(text) < 1:
            self.fail(f'"{value}" is neither a number nor "all"', param, ctx)
        return int(text)


def limit_option(command: Decorated) -> Decorated:
    """Add how many of the newest are wanted."""
    return click.option(
        "--limit",
        type=_Limit(),
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


def _all(
    options: tuple[Callable[[Decorated], Decorated], ...],
) -> Callable[[Decorated], Decorated]:
    def decorate(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def read_settings(
    ctx: click.Context, environ: Mapping[str, str] = os.environ
) -> "Settings":
    """Read the settings of all three places."""
    from recorder.settings import Settings

    given = _given(ctx)
    file = given.get("config") or environ.get("RECORDER_CONFIG")
    return Settings.load(
        environ=environ,
        file=Path(file) if file else None,
        flags={name: given.get(name) for name in SETTINGS},
    )


def given_log(ctx: click.Context) -> int | None:
    """Return the log that was named exactly."""
    number: int | None = _given(ctx).get("log")
    return number
