"""`recorder who`: who changed each field of an object last."""

import click

from recorder.cli.asking import given_time, judge, now, open_reading, wait_for
from recorder.cli.completing import object_argument
from recorder.cli.options import output_option, reading_options
from recorder.cli.output import note, print_document, print_lines

__all__ = ["who"]


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
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def who(
    ctx: click.Context,
    *,
    object_: str,
    namespace: str | None,
    at: str | None,
    output: str,
) -> int:
    r"""Show who changed each field of an object last.

    KNOWN BY says how the author is known: audit is the audit record of the
    request, which names the user, the client and whom the user impersonated,
    and ENTRY is that record; managed-fields is the object's own record, which
    names a program. A part of the object that nobody changed since it began is
    one row.

    \b
    Example:
      recorder who node/gpu-002
      recorder who pod/train/llm-0 --at 2h -o json
    """
    return wait_for(
        _who(ctx, object_, namespace=namespace, at=at, output=output)
    )


async def _who(
    ctx: click.Context,
    name: str,
    *,
    namespace: str | None,
    at: str | None,
    output: str,
) -> int:
    from recorder.documents.who import WhoDocument
    from recorder.questions.references import Reference
    from recorder.questions.who import WhoQuestion, ask_who
    from recorder.render.authors import who_lines, who_notes

    present = now()
    question = WhoQuestion(
        object=Reference.parse(name, namespace),
        at=None if at is None else given_time(at, present, "--at"),
    )
    async with open_reading(ctx) as reading:
        found = await ask_who(reading, question, now=present)
    if output == "table":
        print_lines(who_lines(found))
    else:
        print_document(WhoDocument.of(found), output)
    for line in who_notes(found):
        note(line)
    return judge(found.coverage)
