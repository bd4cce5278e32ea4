"""What changed between two times, as lines for people."""

from recorder.model.moment import written
from recorder.questions.diff import Difference, State
from recorder.render.changes import actor_text, change_lines

__all__ = ["difference_lines"]

SAYS = {
    "not there": "there was no such object at either of them",
    "added": "added: there was none before; see `recorder show --at`",
    "deleted": "deleted: it is no more",
    "absent": "absent: a complete list lacked it, so it is no more",
    "same": "no field changed but those that --all-fields shows",
}


def difference_lines(difference: Difference) -> list[str]:
    """Say what changed from one end to the other."""
    before, after = difference.before, difference.after
    lines = [f"--- {_state(before)}", f"+++ {_state(after)}"]
    said = SAYS.get(difference.outcome)
    if said is not None:
        lines.append(said)
    elif difference.outcome == "another incarnation":
        lines.append(
            f"another incarnation: uid {after.uid}, before it {before.uid}"
        )
    if difference.managers:
        lines.append(f"written {actor_text(difference.managers)}")
    return [*lines, *change_lines(difference.changed)]


def _state(state: State) -> str:
    line = state.line
    asked = "now" if state.at is None else written(state.at)
    if line is None:
        return f"{asked}  no version yet"
    return (
        f"{asked}  entry {line.entry}, {line.operation.value} at"
        f" {written(line.observed_at)}"
    )
