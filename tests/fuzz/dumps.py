"""Dumps: mutated objects and Events, in JSON and YAML, cut and packed."""

import json
import random
from functools import cache
from pathlib import Path

from recorder.facts.classify import read_object
from recorder.model.errors import InputError
from recorder.sources.dumps import Shelf, Things, examine
from tests.audit.test_exports import CASES
from tests.dumps.saved import as_inspected, as_listed, demo
from tests.fuzz.exports import PACKED
from tests.fuzz.mutation import mutated
from tests.fuzz.tapes import folder
from tests.support.builders import at

__all__ = ["check_dump", "make_dump"]


@cache
def _seeds() -> tuple[bytes, ...]:
    saved = demo()
    texts = [as_listed(some[:2]) for some in saved.objects.values()]
    texts += [json.dumps(some[0]) for some in saved.objects.values()]
    inspected = [text for _, text in as_inspected(saved)]
    texts += [text for text in inspected if len(text) < 20_000]
    exported = sorted((CASES / "a08-events-dump").iterdir())
    return (
        *(text.encode() for text in texts),
        *(path.read_bytes() for path in exported),
    )


def make_dump(chance: random.Random) -> bytes:
    raw = chance.choice(_seeds())
    if chance.random() < 0.3:
        raw += chance.choice((b"", b"\n", b"\n---\n")) + chance.choice(
            _seeds()
        )
    if chance.random() < 0.8:
        raw = mutated(raw, chance)
    if chance.random() < 0.2:
        raw = chance.choice(PACKED)(raw)
        if chance.random() < 0.5:
            raw = mutated(raw, chance)
    return raw


def _everything(group: str, plural: str, kind: str) -> bool:
    return bool(group or plural or kind)


def check_dump(raw: bytes, chance: random.Random) -> list[str]:
    """Check that what is on the shelf can be entered, in the order of time.

    Returns what could not be read.
    """
    del chance
    path: Path = folder() / "dump"
    path.write_bytes(raw)
    with Shelf() as shelf:
        *_, found = examine(path, shelf, 0, Things(_everything), now=at())
        placed = [*shelf.placed()]
    assert len(placed) <= found.total.objects + found.total.events
    assert [one.at for one in placed] == sorted(one.at for one in placed)
    refused = []
    for one in placed:
        try:
            read_object(one.raw, resource=one.resource)
        except InputError as exc:
            refused.append(type(exc).__name__)
    if any(file.trouble for file in found.files):
        refused.append("trouble")
    refused += ["refused"] * found.total.refused + ["cut"] * found.total.cut
    return refused
