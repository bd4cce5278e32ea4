"""Ask every question about the live incidents, and print how well it went.

``python -m tests.corpus.live [NAME...]`` takes every incident, or those whose
names begin so. It ends with status 1 if an answer was sure and wrong, or the
score is less than 97 %: wrong and sure counts as five wrong.
"""

import argparse
import asyncio
import sys

from recorder.wiring.database import roles_sql
from tests.conftest import TEMPLATE, migrated
from tests.corpus.live.asking import (
    Graded,
    ask_live,
    counted,
    live_names,
    play_live,
)
from tests.corpus.live_judge import SCORE_MIN, Grade, score
from tests.support.postgres import (
    fresh_database,
    make_template,
    start_embedded,
)


def main() -> int:
    """Ask, and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.live")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    begun = tuple(given.names) or ("",)
    chosen = [name for name in live_names() if name.startswith(begun)]
    with start_embedded(roles_sql()) as server:
        asyncio.run(make_template(server, TEMPLATE, migrated))

        async def ask() -> list[Graded]:
            found = []
            async with fresh_database(server, TEMPLATE) as database:
                logs = await play_live(database.dsn("writer"), chosen)
                async for one in ask_live(database, logs):
                    print(one, flush=True)
                    found.append(one)
            return found

        grades = counted(asyncio.run(ask()))
    said = ", ".join(f"{grades[grade]} {grade}" for grade in Grade)
    print(f"{said}, of {grades.total()}; score {score(grades):.1%}")
    passes = score(grades) >= SCORE_MIN and not grades[Grade.SURE_AND_WRONG]
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
