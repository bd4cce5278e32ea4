"""Options that are allowed before a command and after it.

They are settings, and which log is meant; the last one wins.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from recorder.model.settings import Settings

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

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
    """Return the options so far, before the command and after it."""
    given: dict[str, Any] = ctx.meta.setdefault(__name__, {})
    return given


def remembered_option(
    *names: str, **attributes: Any
) -> Callable[[Decorated], Decorated]:
    """Return an option that is allowed before a command and after it."""
    return click.option(
        *names, expose_value=False, callback=_remember, **attributes
    )


def place_options(*, hidden: bool) -> Callable[[Decorated], Decorated]:
    """Add the options that say where the log is."""
    options = (
        remembered_option(
            "--config",
            metavar="FILE",
            hidden=hidden,
            help="TOML configuration file [RECORDER_CONFIG].",
        ),
        remembered_option(
            "--data-dir",
            metavar="FOLDER",
            hidden=hidden,
            help="Data folder of the embedded PostgreSQL [RECORDER_DATA_DIR].",
        ),
        remembered_option(
            "--database-url",
            metavar="URL",
            hidden=hidden,
            help="Use this PostgreSQL server instead [RECORDER_DATABASE_URL].",
        ),
        remembered_option(
            "--debug",
            is_flag=True,
            hidden=hidden,
            help="Print a traceback on errors.",
        ),
    )
    return all_of(options)


def all_of(
    options: tuple[Callable[[Decorated], Decorated], ...],
) -> Callable[[Decorated], Decorated]:
    """Return a decorator that adds several options, in their order."""

    def decorate(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def parameters(
    decorate: Callable[[Callable[[], None]], Callable[[], None]],
) -> list[click.Parameter]:
    """Return the options that a decorator adds."""

    def bare() -> None:
        pass

    return click.command()(decorate(bare)).params


def read_settings(
    ctx: click.Context, environ: Mapping[str, str] = os.environ
) -> "Settings":
    """Read the settings of all three places."""
    from recorder.model.settings import Settings

    given = _given(ctx)
    file = given.get("config") or environ.get("RECORDER_CONFIG")
    return Settings.load(
        environ=environ,
        file=Path(file) if file else None,
        flags={name: given.get(name) for name in SETTINGS},
    )


def is_log_named(ctx: click.Context) -> bool:
    """Return whether an option names a log or a cluster."""
    return bool({"log", "cluster"} & _given(ctx).keys())


def given_places(ctx: click.Context) -> list[str]:
    """Return the options that say where the log is, to be repeated.

    Not the address of a server: it may have a password in it.
    """
    names = {"config": "--config", "data_dir": "--data-dir"}
    given = _given(ctx)
    return [
        word
        for name, option in names.items()
        if name in given
        for word in (option, str(given[name]))
    ]


def given_log(ctx: click.Context) -> int | None:
    """Return the log that was named exactly."""
    number: int | None = _given(ctx).get("log")
    return number
