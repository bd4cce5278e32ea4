"""`recorder mcp`: the answers as tools for one agent."""

from typing import TYPE_CHECKING

import click

from recorder.cli.asking import wait_for
from recorder.cli.given import place_options

if TYPE_CHECKING:
    from recorder.model.settings import Settings


@click.command()
@place_options(hidden=True)
@click.pass_obj
def mcp(settings: "Settings") -> int:
    r"""Answer an agent over standard input and output (MCP).

    Speaks the Model Context Protocol: an agent starts this command and gets
    tools for why, impact, incidents, history, coverage and entries. Each
    answer names its evidence and what may be missing. Access is read-only.
    `recorder serve` offers the same tools at /mcp, behind its tokens.

    \b
    Examples:
      recorder mcp
      recorder mcp --database-url postgresql://reader@db.example/recorder
    """
    return wait_for(_mcp(settings))


async def _mcp(settings: "Settings") -> int:
    from recorder.wiring.agent import answer_agent

    await answer_agent(settings)
    return 0
