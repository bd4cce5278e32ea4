"""Incidents of the corpus, happening to other nodes at other times."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import orjson

from bench.fleet import Change
from recorder.model.observation import Observation
from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.playing import observations
from tests.corpus.rewording import moment_of, rename, shifted
from tests.corpus.tape_lines import Frame, Lines, objects_of, read_lines
from tests.corpus.truth import Verdict, read_truth

__all__ = ["beside_struck", "incident", "rack_of", "struck_nodes", "truth_of"]

INCIDENTS = ("crash", "kernel-deadlock", "drain", "kubelet-restart")
TAPES = Path(__file__).parents[1] / "tests/corpus/tapes"
RACK = "bench.example.com/rack"
BESIDE = 7
"""Nodes of the fleet in the rack of a struck one."""

UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@cache
def _script(name: str) -> AnsweredTape:
    return AnsweredTape(
        read_lines(TAPES / f"{name}.tape.jsonl.zst"),
        read_truth(TAPES / f"{name}.truth.json"),
    )


def _renamed(number: int) -> AnsweredTape:
    return rename(_script(INCIDENTS[number % len(INCIDENTS)]), number)


def struck_nodes(count: int) -> list[str]:
    """Name the node that each of so many incidents is about."""
    return [truth_of(number).node for number in range(count)]


def truth_of(number: int) -> Verdict:
    """Return the truth about the node of an incident."""
    return _renamed(number).truth.verdicts[0]


def rack_of(number: int) -> str:
    """Name the rack of the node that an incident is about."""
    return f"rack-of-{number}"


def beside_struck(nodes: Sequence[Change], struck: int) -> list[Change]:
    """Put the first of these Nodes into the racks of the struck ones."""
    return [
        replace(change, document=_racked(change.document, number // BESIDE))
        if number < struck * BESIDE
        else change
        for number, change in enumerate(nodes)
    ]


def _racked(document: bytes, number: int) -> bytes:
    node = orjson.loads(document)
    _put(node, number)
    return orjson.dumps(node)


def _put(node: dict[str, Any], number: int) -> None:
    node["metadata"].setdefault("labels", {})[RACK] = rack_of(number)


def incident(number: int, when: datetime) -> Sequence[Observation]:
    """Return what is seen of an incident that begins at a time."""
    other = _renamed(number)
    struck = other.truth.verdicts[0].node
    begun = moment_of(other.tape.frames[0]["at"])

    def again(line: Frame) -> Frame:
        text = shifted(orjson.dumps(line).decode(), when - begun)
        text = UID.sub(
            lambda uid: str(uuid5(NAMESPACE_OID, f"{number} {uid[0]}")), text
        )
        changed: Frame = orjson.loads(text)
        if changed.get("resource") == "v1/nodes":
            for node in objects_of(changed):
                if node["metadata"].get("name") == struck:
                    _put(node, number)
        return changed

    frames = [again(frame) for frame in other.tape.frames]
    return list(observations(Lines(other.tape.header, frames)))
