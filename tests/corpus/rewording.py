"""Names and times of a tape and its truth, changed wherever they occur."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

import msgspec
import orjson

from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.tape_lines import Lines, is_bookmark, objects_of
from tests.corpus.truth import Truth

__all__ = [
    "moment_of",
    "rename",
    "shift_days",
    "shifted",
    "shifted_from",
    "written",
]

DAYS_MAX = 400

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")

RENAMED = frozenset(
    {
        "v1/nodes",
        "batch/v1/jobs",
        "apps/v1/deployments",
        "jobset.x-k8s.io/v1alpha2/jobsets",
    }
)
"""What gets another name. Controllers keep theirs, being known by them; a Pod
has the name of its owner in its own."""


def rename(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Return nodes and workloads other names, wherever they are spoken of."""
    chance = Random(seed)
    names = sorted(
        {
            item["metadata"]["name"]
            for frame in answered.tape.frames
            if frame.get("resource") in RENAMED
            for item in objects_of(frame)
            if not is_bookmark(frame)
        },
        key=lambda name: (-len(name), name),
    )
    others = {name: f"{_word(chance)}-{_word(chance)}" for name in names}
    return _rewritten(answered, lambda text: _replaced(text, others))


def shift_days(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Let everything happen some days earlier or later, clocks and all."""
    days = timedelta(days=Random(seed).randint(-DAYS_MAX, DAYS_MAX))
    return _rewritten(answered, lambda text: shifted(text, days))


def shifted_from(
    answered: AnsweredTape, since: datetime, by: timedelta
) -> AnsweredTape:
    """Let everything from a time on happen later."""
    second = since.replace(microsecond=0)

    def change(text: str) -> str:
        return TIME.sub(
            lambda found: (
                shifted(found[0], by)
                if moment_of(found[0]) >= second
                else found[0]
            ),
            text,
        )

    frames = [
        frame
        if moment_of(frame["at"]) < since
        else orjson.loads(change(orjson.dumps(frame).decode()))
        for frame in answered.tape.frames
    ]
    truth = change(msgspec.json.encode(answered.truth).decode())
    return AnsweredTape(
        Lines(answered.tape.header, frames),
        msgspec.json.decode(truth, type=Truth),
    )


def shifted(text: str, by: timedelta) -> str:
    """Move every time in a text, each written as it was."""

    def moved(found: re.Match[str]) -> str:
        digits = len(found[0].partition(".")[2]) - 1
        at = (moment_of(found[0]) + by).replace(tzinfo=None)
        if digits < 1:
            return f"{at:%Y-%m-%dT%H:%M:%S}Z"
        fraction = f"{at.microsecond:06}"[:digits].ljust(digits, "0")
        return f"{at:%Y-%m-%dT%H:%M:%S}.{fraction}Z"

    return TIME.sub(moved, text)


def moment_of(text: str) -> datetime:
    """Read a time as objects and frames have it."""
    return datetime.fromisoformat(text)


def written(at: datetime) -> str:
    """Write a time as frames have it."""
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"


def _rewritten(
    answered: AnsweredTape, change: Callable[[str], str]
) -> AnsweredTape:
    """Return a tape and its truth with every text changed."""

    def changed(line: dict[str, Any]) -> dict[str, Any]:
        text = orjson.dumps(line).decode()
        rewritten: dict[str, Any] = orjson.loads(change(text))
        return rewritten

    tape = Lines(
        changed(answered.tape.header),
        [changed(f) for f in answered.tape.frames],
    )
    text = msgspec.json.encode(answered.truth).decode()
    return AnsweredTape(tape, msgspec.json.decode(change(text), type=Truth))


def _replaced(text: str, others: Mapping[str, str]) -> str:
    if not others:
        return text
    any_name = "|".join(map(re.escape, others))
    whole = rf"(?<![A-Za-z0-9])(?:{any_name})(?![A-Za-z0-9])"
    return re.sub(whole, lambda found: others[found[0]], text)


def _word(chance: Random) -> str:
    """Return a word that is a name in Kubernetes and in no tape."""
    syllables = [
        chance.choice("bdfghjklmnprstvwz") + chance.choice("aeiou")
        for _ in range(4)
    ]
    return "".join(syllables)
