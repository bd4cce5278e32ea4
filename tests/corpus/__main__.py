"""Answer every question of the corpus, and print how well.

``python -m tests.corpus [--variations N] [--seed N] [NAME...]`` plays every
tape, or the ones named, into a database of their own and holds the answers
against the truths; then ``N`` variations of each tape. It ends with status 1
if an answer was sure and wrong, or too few were right.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

from recorder.wiring.database import roles_sql
from tests.conftest import TEMPLATE, migrated
from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.asking import Answers, ask_everything
from tests.corpus.logs import (
    names,
    play,
    play_all,
    reading_of,
    tape_of,
    truth_of,
)
from tests.corpus.tabling import lines, passes
from tests.corpus.tape_lines import read_lines, write_lines
from tests.corpus.truth import read_truth
from tests.corpus.variations import VARIATIONS
from tests.support.postgres import (
    DatabaseServer,
    fresh_database,
    make_template,
    start_embedded,
)


def main() -> int:
    """Answer, and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus")
    parser.add_argument("--variations", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    chosen = given.names or names()
    with start_embedded(roles_sql()) as server:
        asyncio.run(make_template(server, TEMPLATE, migrated))
        found = asyncio.run(_as_recorded(server, chosen))
        print(*lines(found), sep="\n", flush=True)
        varied = asyncio.run(
            _varied(server, chosen, count=given.variations, seed=given.seed)
        )
    if varied:
        print("\nvariations")
        print(*lines(varied), sep="\n")
    return 0 if passes(found) and passes(varied or found) else 1


async def _as_recorded(
    server: DatabaseServer, chosen: Sequence[str]
) -> list[Answers]:
    found = []
    async with fresh_database(server, TEMPLATE) as database:
        logs = await play_all(database.dsn("writer"), chosen)
        for name in chosen:
            number = logs[name]
            async with reading_of(database.dsn("reader"), number) as reading:
                found.append(
                    await ask_everything(
                        reading, read_truth(truth_of(name)), name=name
                    )
                )
    return found


async def _varied(
    server: DatabaseServer, chosen: Sequence[str], *, count: int, seed: int
) -> list[Answers]:
    """Play variations of each tape: each way of varying in its turn."""
    found = []
    chance = Random(seed)
    ways = sorted(VARIATIONS)
    turn = 0
    with tempfile.TemporaryDirectory(prefix="recorder-corpus-") as folder:
        for name in chosen:
            tape = read_lines(tape_of(name))
            answered = AnsweredTape(tape, read_truth(truth_of(name)))
            async with fresh_database(server, TEMPLATE) as database:
                for _ in range(count):
                    way = ways[turn % len(ways)]
                    turn += 1
                    number = chance.randrange(2**32)
                    varied = VARIATIONS[way](answered, number)
                    path = Path(folder) / "varied.tape.jsonl.zst"
                    write_lines(path, varied.tape)
                    label = f"{name}, {way} {number}"
                    log = await play(database.dsn("writer"), path, name=label)
                    async with reading_of(
                        database.dsn("reader"), log
                    ) as reading:
                        found.append(
                            await ask_everything(
                                reading, varied.truth, name=label
                            )
                        )
    return found


if __name__ == "__main__":
    sys.exit(main())
