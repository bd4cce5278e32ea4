"""Plays blind incidents: ``python -m tests.corpus.blind.make [NAME ...]``.

Every incident gets a cluster of its own, is recorded, and leaves a tape and
its truth in the folder of its set. Names choose incidents.
"""

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.corpus.audit import audit_lines, merged
from tests.corpus.blind.sets import SETS, BlindSet
from tests.corpus.blind.stage import STORIES, BlindStage, Story
from tests.corpus.blind.truth import resolved
from tests.corpus.make import _folder
from tests.corpus.tape_lines import (
    raw_lines,
    read_lines,
    write_lines,
    write_raw,
)

__all__ = ["play"]


def _set_of(name: str) -> BlindSet:
    """Return the set that has an incident."""
    (found,) = [one for one in SETS if name in one.truths()]
    return found


async def play(story: Story) -> Path:
    """Play a story, and keep its tape and its truth; return the tape."""
    blind = _set_of(story.name)
    truth = blind.truths()[story.name]
    assert truth.audit == (story.options.audit_policy is not None), story.name
    with _folder() as folder:
        async with Cluster.start(folder / "cluster", story.options) as cluster:
            stage = BlindStage(story.name, cluster, folder)
            await story.play(stage)
        (part,) = stage.parts
        lines = raw_lines(part)
        if truth.audit:
            lines = merged(lines, audit_lines(cluster.audit_log))
    tape = blind.folder / f"{story.name}.tape.jsonl.zst"
    write_raw(tape, lines)
    if story.edit is not None:
        times = {act["label"]: act["at"] for act in stage.acts}
        write_lines(tape, story.edit(read_lines(tape), times))
    content = json.dumps(resolved(truth, stage.acts), indent=1)
    tape.with_name(f"{story.name}.truth.json").write_text(content + "\n")
    return tape


async def _play_all(names: list[str]) -> list[str]:
    failed = []
    for name in names:
        began = time.monotonic()
        try:
            tape = await play(STORIES[name])
        except Exception as error:  # noqa: BLE001 - others go on
            failed.append(name)
            print(f"{name}: {error!r}", file=sys.stderr, flush=True)
            continue
        took = time.monotonic() - began
        print(f"{name}: {tape.stat().st_size} bytes, {took:.0f} s", flush=True)
    return failed


def main(arguments: list[str]) -> int:
    """Run the command line."""
    for blind in SETS:
        blind.register()
    parser = argparse.ArgumentParser(prog="make", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    asked = parser.parse_args(arguments)
    failed = asyncio.run(_play_all(asked.names or sorted(STORIES)))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
