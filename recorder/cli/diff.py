"""`recorder diff`: what changed in an object between two times."""

from datetime import datetime
from typing import TYPE_CHECKING

import click

from recorder.cli.asking import judge, now, open_reading, wait_for
from recorder.cli.completing import object_argument
from recorder.cli.options import output_option, reading_options
from recorder.cli.output import note, print_document, print_lines

if TYPE_CHECKING:
    from recorder.questions.diff import DifferenceQuestion

__all__ = ["diff"]


@click.command()
@object_argument("object_", metavar="OBJECT")
@click.option(
    "-n", "--namespace", metavar="NAMESPACE", help="Namespace of the object."
)
@click.option(
    "--from",
    "before",
    metavar="TIME",
    required=True,
    help="As it was then: 2026-11-21T03:18:00Z, an age: 2h, or in an entry:"
    " 1/48213.",
)
@click.option(
    "--to",
    "after",
    metavar="TIME",
    help="Compare with this time or entry. Default: the newest version.",
)
@click.option(
    "--all-fields",
    is_flag=True,
    help="Include managedFields, versions, generations and heartbeat times.",
)
@output_option("table", "json", "yaml")
@reading_options
@click.pass_context
def diff(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    object_: str,
    namespace: str | None,
    before: str,
    after: str | None,
    all_fields: bool,
    output: str,
) -> int:
    r"""Show what changed in an object between two times.

    The object is read at each time as `recorder show --at` reads it. Writers
    in between are named as in `recorder history`, which shows each
    intermediate version.

    \b
    Example:
      recorder diff node/gpu-002 --from 2h --to 1h
      recorder diff pod/train/llm-0 --from 1/29 --to 1/66 -o json
    """
    from recorder.questions.diff import DifferenceQuestion, End
    from recorder.questions.references import Reference

    present = now()
    question = DifferenceQuestion(
        object=Reference.parse(object_, namespace),
        before=End.parse(before, now=present, name="--from", assumed=note),
        after=End()
        if after is None
        else End.parse(after, now=present, name="--to", assumed=note),
        all_fields=all_fields,
    )
    return wait_for(_diff(ctx, question, present, output))


async def _diff(
    ctx: click.Context,
    question: "DifferenceQuestion",
    present: datetime,
    output: str,
) -> int:
    from recorder.documents.versions import DifferenceDocument
    from recorder.questions.diff import ask_difference
    from recorder.render.versions import difference_lines

    # An end may tell the log by its number.
    ends = (question.before.entry, question.after.entry)
    log = next((end.log for end in ends if end is not None), None)
    async with open_reading(ctx, log) as reading:
        found = await ask_difference(reading, question, now=present)
    if output == "table":
        print_lines(difference_lines(found))
    else:
        print_document(DifferenceDocument.of(found), output)
    return judge(found.coverage)
