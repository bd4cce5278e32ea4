"""Writes a set of incidents: a tape and a truth for each."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from tests.corpus.blind.truth import Truth, resolved
from tests.corpus.blinding import blinded
from tests.corpus.tape_lines import Lines, write_lines
from tests.corpus.writing.tape import WrittenTape

__all__ = ["write_all"]


T = TypeVar("T", bound=WrittenTape)


def write_all(
    folder: Path,
    truths: Iterable[Truth],
    scene: Callable[[str], T],
    stories: Mapping[str, Callable[[T], None]],
) -> None:
    """Write every incident; a story has the first word of its name.

    What was done between the acts ``blind`` and ``seen`` is not recorded.
    """
    for truth in truths:
        name = truth.name
        w = scene(name)
        stories[name.split("_", maxsplit=1)[0]](w)
        w.end()
        header = {
            "tape": "recorder/1",
            "cluster": name,
            "cluster_uid": w.uid("cluster"),
            "kubernetes": "v1.36.3",
            "started_at": w.frames[0]["at"],
            "redaction_key_id": "99ed34e3c08cd791",
        }
        tape = Lines(header, w.frames)
        at = {act["label"]: act["at"] for act in w.acts}
        if "blind" in at:
            tape = blinded(tape, at["blind"], at["seen"])
        write_lines(folder / f"{name}.tape.jsonl.zst", tape)
        content = json.dumps(resolved(truth, w.acts), indent=1)
        (folder / f"{name}.truth.json").write_text(content + "\n")
