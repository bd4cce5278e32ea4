"""`recorder token`: who may ask over HTTP."""

from typing import TYPE_CHECKING

import click

from recorder.cli.lazy import LazyGroup
from recorder.cli.options import place_options
from recorder.cli.output import note, print_lines

if TYPE_CHECKING:
    from recorder.admin.tokens import TokenFile
    from recorder.settings import Settings

__all__ = ["add", "list_tokens", "revoke", "token"]


@click.group(
    cls=LazyGroup,
    places={
        "add": "recorder.cli.token:add",
        "list": "recorder.cli.token:list_tokens",
        "revoke": "recorder.cli.token:revoke",
    },
)
def token() -> None:
    """Make, list and revoke the tokens that admit to the served API.

    They are kept as hashes in the file of the setting token_file. A server
    takes note of a change at once.
    """


@click.command()
@click.argument("name")
@place_options(hidden=True)
@click.pass_obj
def add(settings: "Settings", name: str) -> None:
    r"""Make a token and print it; it is shown this once.

    \b
    Example:
      RECORDER_TOKEN_FILE=/etc/recorder/tokens recorder token add grafana
    """
    made = _file(settings).add(name)
    print_lines([made])
    note(f'this is the only time that the token "{name}" is shown')


@click.command(name="list")
@place_options(hidden=True)
@click.pass_obj
def list_tokens(settings: "Settings") -> None:
    r"""List the names of the tokens, and since when there are.

    \b
    Example:
      recorder token list
    """
    tokens = _file(settings).tokens()
    width = max((len(one.name) for one in tokens), default=0)
    width = max(width, len("NAME"))
    print_lines(
        [
            f"{'NAME'.ljust(width)}   CREATED",
            *(f"{one.name.ljust(width)}   {one.created}" for one in tokens),
        ]
    )


@click.command()
@click.argument("name")
@place_options(hidden=True)
@click.pass_obj
def revoke(settings: "Settings", name: str) -> None:
    r"""Let a token admit nobody any more, at once.

    \b
    Example:
      recorder token revoke grafana
    """
    _file(settings).revoke(name)
    note(f'the token "{name}" admits nobody any more')


def _file(settings: "Settings") -> "TokenFile":
    from recorder.admin.tokens import TokenFile, TokenFileError

    if settings.token_file is None:
        msg = (
            "no file is named for the tokens: set token_file, or"
            " RECORDER_TOKEN_FILE, to the same file for this command and for"
            " `recorder serve`"
        )
        raise TokenFileError(msg)
    return TokenFile(settings.token_file)
