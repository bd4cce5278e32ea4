"""`recorder who`: who changed each field of an object last."""

from typing import TYPE_CHECKING

from recorder.cli.answering import Answered, answer_command
from recorder.cli.options import output_option
from recorder.cli.output import note, print_document, print_lines

if TYPE_CHECKING:
    from recorder.answers.who import Who

__all__ = ["who"]


@answer_command("who", output_option("table", "json", "yaml"))
def who(found: "Answered[Who]") -> None:
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
    from recorder.answers.who import who_lines, who_notes

    answer = found.answer
    if found.output == "table":
        print_lines(who_lines(answer))
    else:
        print_document(answer, found.output)
    for line in who_notes(answer):
        note(line)
