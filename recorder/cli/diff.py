"""`recorder diff`: what changed in an object between two times."""

from typing import TYPE_CHECKING

from recorder.cli.answering import Answered, answer_command
from recorder.cli.options import output_option
from recorder.cli.output import print_document, print_lines

if TYPE_CHECKING:
    from recorder.answers.diff import Difference

__all__ = ["diff"]


@answer_command("diff", output_option("table", "json", "yaml"))
def diff(found: "Answered[Difference]") -> None:
    r"""Show what changed in an object between two times.

    The object is read at each time as `recorder show --at` reads it. Writers
    in between are named as in `recorder history`, which shows each
    intermediate version.

    \b
    Example:
      recorder diff node/gpu-002 --from 2h --to 1h
      recorder diff pod/train/llm-0 --from 1/29 --to 1/66 -o json
    """
    from recorder.answers.versions import difference_lines

    if found.output == "table":
        print_lines(difference_lines(found.answer))
    else:
        print_document(found.answer, found.output)
