"""Groups whose commands are imported when they are run.

A new command is one line in the mapping of its group: the module that holds
it, and the name that it has there.
"""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

READING = (
    "Exit status: 0 complete, 1 failed, 2 usage error, 4 incomplete answer,"
    " 5 no such cluster, node or object in the log."
)
DOING = "Exit status: 0 done, 1 failed, 2 usage error."


class LazyGroup(click.Group):
    """A group that finds its commands by ``module:attribute``."""

    def __init__(
        self,
        *args: Any,
        places: Mapping[str, str] | None = None,
        groups: Mapping[str, Collection[str]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._places = dict(places or {})
        self._groups = groups or {"Commands": list(self._places)}
        self.help = _unescaped(self.help)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which they are read."""
        del ctx
        return list(self._places)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the commands, each in its group."""
        width = max(map(len, self._places), default=0)
        limit = formatter.width - 6 - width
        for title, names in self._groups.items():
            found = [(n, self.get_command(ctx, n)) for n in names]
            rows = [
                (name.ljust(width), command.get_short_help_str(limit))
                for name, command in found
                if command is not None
            ]
            with formatter.section(title):
                formatter.write_dl(rows)

    def get_command(
        self, ctx: click.Context, cmd_name: str
    ) -> click.Command | None:
        """Import one command."""
        del ctx
        place = self._places.get(cmd_name)
        if place is None:
            return None
        module, _, attribute = place.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        command.help = _unescaped(command.help)
        if not isinstance(command, click.Group):
            command.epilog = command.epilog or _statuses(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the arguments, or suggest a similar one."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            near = get_close_matches(name, self._places, n=1)
            hint = f' did you mean "{near[0]}"?' if near else ""
            ctx.fail(f'there is no command "{name}";{hint or " see --help"}')
        return super().resolve_command(ctx, args)


def _unescaped(text: str | None) -> str | None:
    """Replace the mark of a raw docstring by the one that click reads.

    It keeps the lines of the paragraph that it begins as they are.
    """
    return text and text.replace("\\b\n", "\b\n")


def _statuses(command: click.Command) -> str:
    """Say what the exit status means, of one that reads a log or another."""
    reads = any(option.name == "log" for option in command.params)
    return READING if reads else DOING
