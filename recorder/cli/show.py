"""`recorder show`: an object as it was."""

from typing import TYPE_CHECKING

from recorder.cli.answering import Answered, answer_command
from recorder.cli.options import output_option
from recorder.cli.output import note, print_document

if TYPE_CHECKING:
    from recorder.answers.show import Shown

__all__ = ["show"]


@answer_command("object", output_option("yaml", "json"))
def show(found: "Answered[Shown]") -> None:
    r"""Show an object as it was at a time, even if it is gone.

    OBJECT is written as for kubectl: node/gpu-002, pod/train/llm-0, or
    pod/llm-0 with -n train; short names work. The log entry it comes from is
    printed on stderr.

    \b
    Example:
      recorder show node/gpu-002 --at 2026-11-21T03:12:00Z
      recorder show -n train pod/llm-0 --at 2h -o json
    """
    from recorder.answers.versions import shown_notes

    print_document(found.answer.object, found.output)
    for line in shown_notes(found.answer):
        note(line)
