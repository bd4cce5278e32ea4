"""The command `recorder`: its commands, and how errors reach a person.

An error that the project knows by name is one line on stderr and the exit
status of its kind; a traceback appears with ``--debug`` alone.
"""

import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from recorder import __version__
from recorder.cli.calling import as_typed
from recorder.cli.given import place_options, read_settings
from recorder.cli.lazy import LazyGroup
from recorder.model.errors import RecorderError

GROUPS = {
    "Ask": {
        "status": "recorder.cli.status:status",
        "info": "recorder.cli.info:info",
        "clusters": "recorder.cli.clusters:clusters",
        "incidents": "recorder.cli.answers:incidents",
        "why": "recorder.cli.answers:why",
        "impact": "recorder.cli.answers:impact",
        "jobs": "recorder.cli.answers:jobs",
        "stats": "recorder.cli.answers:stats",
        "search": "recorder.cli.answers:search",
        "get": "recorder.cli.answers:get",
        "show": "recorder.cli.answers:show",
        "history": "recorder.cli.history:history",
        "diff": "recorder.cli.answers:diff",
        "who": "recorder.cli.answers:who",
        "log": "recorder.cli.log:log",
        "gaps": "recorder.cli.answers:gaps",
        "replay": "recorder.cli.replay:replay",
        "postmortem": "recorder.cli.postmortem:postmortem",
        "open": "recorder.cli.serving:open_page",
    },
    "Record": {
        "up": "recorder.cli.recording:up",
        "record": "recorder.cli.recording:record",
        "demo": "recorder.cli.playing:demo",
        "import": "recorder.cli.importing:import_paths",
        "tape": "recorder.cli.tape:tape",
        "audit": "recorder.cli.audit:audit",
        "send": "recorder.cli.send:send",
    },
    "Keep": {
        "archive": "recorder.cli.retaining:archive",
        "prune": "recorder.cli.retaining:prune",
        "hold": "recorder.cli.hold:hold",
        "migrate": "recorder.cli.migrate:migrate",
        "rederive": "recorder.cli.rederive:rederive",
    },
    "Prove": {
        "verify": "recorder.cli.verify:verify",
        "checkpoint": "recorder.cli.integrity:checkpoint",
        "prove": "recorder.cli.integrity:prove",
        "keys": "recorder.cli.keys:keys",
    },
    "Run": {
        "serve": "recorder.cli.serving:serve",
        "mcp": "recorder.cli.mcp:mcp",
        "notify": "recorder.cli.notify:notify",
        "notifications": "recorder.cli.notifications:notifications",
        "measure": "recorder.cli.measure:measure",
        "token": "recorder.cli.token:token",
        "doctor": "recorder.cli.doctor:doctor",
        "completion": "recorder.cli.completion:completion",
    },
}
"""What each command is for, and where it is; it is imported when it is run."""

COMMANDS = {
    name: place for group in GROUPS.values() for name, place in group.items()
}

INTERRUPTED = 128 + signal.SIGINT


@click.group(
    cls=LazyGroup,
    places=COMMANDS,
    groups=GROUPS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="recorder")
@place_options(hidden=False)
@click.pass_context
def main(ctx: click.Context) -> None:
    r"""Record what happens in a Kubernetes cluster, and query it later.

    \b
    Exit status: 0 answered and complete, 1 failed, 2 usage error,
    3 verification failed, 4 answered but incomplete, 5 no such cluster,
    node or object in the log.
    """
    ctx.obj = read_settings(ctx)


def run(
    arguments: Sequence[str] | None = None, *, name: str = "recorder"
) -> NoReturn:
    """Run the command line of this process, and end it.

    Args:
        arguments: its words; those of the process where None.
        name: by which it was called, for its help.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_run(words, name))


def _run(words: list[str], name: str = "recorder") -> int:
    try:
        status = main.main(args=words, prog_name=name, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException as exc:  # noqa: BLE001 - the last one to catch it
        return _reported(exc, debug="--debug" in words)
    return status if isinstance(status, int) else 0


def _innermost(error: BaseException) -> BaseException:
    """Unwrap an error from the exception groups of its tasks."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _reported(raised: BaseException, *, debug: bool) -> int:
    """Report an error to a person; return the exit status."""
    error = _innermost(raised)
    match error:
        case SystemExit():
            return error.code if isinstance(error.code, int) else 1
        case click.ClickException():
            error.show()
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            return INTERRUPTED
        case _:
            pass
    if debug:
        sys.excepthook(type(raised), raised, raised.__traceback__)
    if isinstance(error, RecorderError):
        from recorder.answers.text.lines import plain

        # What was asked or recorded is quoted: it may hold anything.
        said = "; ".join(filter(None, (str(error), error.advice)))
        line = as_typed(plain(" ".join(said.split())))
        click.echo(f"recorder: {line}", err=True)
        if table := getattr(error, "table", None):
            click.echo("\n".join(map(plain, table.splitlines())), err=True)
        return error.exit_status
    click.echo(
        f"recorder: internal error: {type(error).__name__}: {error}"
        " (--debug shows where)",
        err=True,
    )
    return 1
