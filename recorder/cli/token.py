"""`recorder token`: access to the API."""

from typing import TYPE_CHECKING

import click

from recorder.cli.given import place_options
from recorder.cli.lazy import LazyGroup
from recorder.cli.output import note, print_lines

if TYPE_CHECKING:
    from recorder.keeping.tokens import TokenFile
    from recorder.model.settings import Settings


@click.group(
    cls=LazyGroup,
    places={
        "add": "recorder.cli.token:add",
        "list": "recorder.cli.token:list_tokens",
        "revoke": "recorder.cli.token:revoke",
    },
)
def token() -> None:
    """Create, list and revoke access tokens for the API.

    Tokens are stored as hashes in the file named by the setting token_file. A
    running server picks up changes immediately.
    """


@click.command()
@click.argument("name")
@click.option(
    "--source",
    metavar="PATTERN",
    help="Sources of the events that the token may post, as in 'pdu/*'.",
)
@click.option(
    "--type",
    "kind",
    metavar="PATTERN",
    help="Types of the events that the token may post.",
)
@place_options(hidden=True)
@click.pass_obj
def add(
    settings: "Settings", name: str, source: str | None, kind: str | None
) -> None:
    r"""Create a token and print it (shown only once).

    With --source and --type it may post such events, and nothing else.

    \b
    Examples:
      RECORDER_TOKEN_FILE=/etc/recorder/tokens recorder token add grafana
      RECORDER_TOKEN_FILE=/etc/recorder/senders recorder token add pdu \
        --source 'pdu/*' --type machine.power
    """
    if (source is None) != (kind is None):
        msg = "--source and --type need each other"
        raise click.UsageError(msg)
    claims = None if source is None or kind is None else (source, kind)
    made = _file(settings).add(name, claims=claims)
    print_lines([made])
    note(f'save the token "{name}" now: it is not shown again')


@click.command(name="list")
@place_options(hidden=True)
@click.pass_obj
def list_tokens(settings: "Settings") -> None:
    r"""List tokens by name and creation time.

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
    r"""Revoke a token immediately.

    \b
    Example:
      recorder token revoke grafana
    """
    _file(settings).revoke(name)
    note(f'the token "{name}" is revoked')


def _file(settings: "Settings") -> "TokenFile":
    from recorder.keeping.tokens import TokenFile, TokenFileError

    if settings.token_file is None:
        msg = (
            "no token file is configured: set token_file, or"
            " RECORDER_TOKEN_FILE, to the same file for this command and for"
            " `recorder serve`"
        )
        raise TokenFileError(msg)
    return TokenFile(settings.token_file)
