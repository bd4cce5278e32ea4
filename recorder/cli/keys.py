"""`recorder keys`: the key that signs checkpoints, and the trusted ones."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from recorder.cli.given import place_options
from recorder.cli.lazy import LazyGroup
from recorder.cli.output import note, print_lines

if TYPE_CHECKING:
    from recorder.model.settings import Settings


@click.group(
    cls=LazyGroup,
    places={
        "make": "recorder.cli.keys:make",
        "show": "recorder.cli.keys:show",
        "rotate": "recorder.cli.keys:rotate",
    },
)
def keys() -> None:
    """Make, show and replace the key that signs checkpoints.

    The private key is a file (signing_key_file), never in the database. Give
    the public keys to those who verify the log, by a way that does not pass
    through the recorder.
    """


@click.command()
@place_options(hidden=True)
@click.pass_obj
def make(settings: "Settings") -> None:
    r"""Make the key if there is none, and print its public key.

    `recorder up` does the same on first use.

    \b
    Example:
      recorder keys make
    """
    from recorder.keeping.signing_key import load_signing_key, trust

    key = load_signing_key(settings)
    trust(settings, key, datetime.now(UTC))
    _print(settings)


@click.command()
@place_options(hidden=True)
@click.pass_obj
def show(settings: "Settings") -> None:
    r"""Print the public keys whose checkpoints count, oldest first.

    \b
    Example:
      recorder keys show > trusted-keys.txt
    """
    _print(settings)


@click.command()
@place_options(hidden=True)
@click.pass_obj
def rotate(settings: "Settings") -> None:
    r"""Replace the key; checkpoints signed by the old one still count.

    If the old key may be in other hands, also remove its line from the
    trusted keys, and keep earlier checkpoints in a place where they cannot
    be edited.

    \b
    Example:
      recorder keys rotate
    """
    from recorder.keeping.signing_key import rotate as replace_key

    replace_key(settings, datetime.now(UTC))
    _print(settings)
    note("checkpoints are signed with the last of these keys from now on")


def _print(settings: "Settings") -> None:
    from recorder.keeping.signing_key import trusted_keys

    print_lines(
        f"{key.written} {key.since}".rstrip() for key in trusted_keys(settings)
    )
