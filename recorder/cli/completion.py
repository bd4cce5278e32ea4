"""`recorder completion`: scripts for completion in a shell."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_RECORDER_COMPLETE"
"""Where click looks for what the shell wants."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), metavar="bash|zsh|fish")
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    r"""Print a shell completion script for commands and names.

    Names of nodes and objects come from the log, including deleted ones, while
    a database is running. bash must be version 4.4 or newer. `kubectl
    recorder` needs only kubectl's own completion.

    \b
    Example:
      eval "$(recorder completion bash)"       # in ~/.bashrc
      eval "$(recorder completion zsh)"        # in ~/.zshrc
      recorder completion fish | source        # in config.fish
    """
    of_shell = get_completion_class(shell)
    assert of_shell is not None, shell
    script = of_shell(ctx.find_root().command, {}, "recorder", VARIABLE)
    click.echo(script.source_template % script.source_vars())
