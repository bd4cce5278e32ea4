"""`recorder show`: an object as it was."""

import click

from recorder.cli.asking import given_time, judge, now, open_reading, wait_for
from recorder.cli.completing import object_argument
from recorder.cli.options import output_option, reading_options
from recorder.cli.output import note, print_document

__all__ = ["show"]


@click.command()
@object_argument("object_", metavar="OBJECT")
@click.option(
    "-n", "--namespace", metavar="NAMESPACE", help="Namespace of the object."
)
@click.option(
    "--at",
    metavar="TIME",
    help="As of this time: 2026-11-21T03:18:00Z, or an age: 2h."
    " Default: the newest version.",
)
@output_option("yaml", "json")
@reading_options
@click.pass_context
def show(
    ctx: click.Context,
    *,
    object_: str,
    namespace: str | None,
    at: str | None,
    output: str,
) -> int:
    r"""Show an object as it was at a time, even if it is gone.

    OBJECT is written as for kubectl: node/gpu-002, pod/train/llm-0, or
    pod/llm-0 with -n train; short names work. The log entry it comes from is
    printed on stderr.

    \b
    Example:
      recorder show node/gpu-002 --at 2026-11-21T03:12:00Z
      recorder show -n train pod/llm-0 --at 2h -o json
    """
    return wait_for(
        _show(ctx, object_, namespace=namespace, at=at, output=output)
    )


async def _show(
    ctx: click.Context,
    name: str,
    *,
    namespace: str | None,
    at: str | None,
    output: str,
) -> int:
    from recorder.questions.references import Reference
    from recorder.questions.show import ask_object
    from recorder.render.versions import shown_notes

    present = now()
    reference = Reference.parse(name, namespace)
    moment = None
    if at is not None:
        moment = given_time(at, present, "--at")
    async with open_reading(ctx) as reading:
        shown = await ask_object(reading, reference, moment, now=present)
    print_document(shown.object, output)
    for line in shown_notes(shown):
        note(line)
    return judge(shown.coverage)
