"""What is answered from the archive is what was answered before."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from recorder.keeping.retaining import Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.model.settings import Settings
from recorder.wiring.reading import open_logs
from tests.corpus.answers import TAPES
from tests.corpus.logs import names, play
from tests.corpus.questions import Answer, answers_of
from tests.support.days import asked, set_clock
from tests.support.postgres import Database
from tests.support.sampling import sampled

SAMPLE = 3
ARCHIVED = re.compile(
    r',\s*"archived": \[[^\]]*\]|,\s*"from the archive: [^"]*"'
    r"|\n[*] from the archive: [^\n]*|\nfrom the archive: [^\n]*"
)

LEFT = "select count(*) from recorder.batch"


def chosen() -> list[str]:
    return [*sampled("from the archive", names(), SAMPLE)]


async def answers(database: Database, tape: str, folder: Path) -> list[Answer]:
    _, spans, _ = TAPES[f"tapes/{tape}"](tape, folder)
    settings = Settings(
        database_url=database.dsn("reader"),
        data_dir=folder / "data",
        kubeconfig="/nonexistent",
    )
    async with open_logs(settings) as logs:
        return [one async for one in answers_of(logs, spans)]


async def answers_of_old(
    database: Database, tape: str, folder: Path
) -> list[Answer]:
    """Play a tape as if twenty days ago; return the answers about it."""
    await set_clock(database, -timedelta(days=20))
    path, _, _ = TAPES[f"tapes/{tape}"](tape, folder)
    await play(database.dsn("writer"), path, name=tape)
    await set_clock(database, timedelta(0))
    return await answers(database, tape, folder)


async def drop_all(database: Database, place: Path) -> None:
    """Archive all days that are over, and drop them."""
    policy = Policy(place=str(place), hot=timedelta(days=1))
    done = await retain(database.dsn("retention"), Retaining(policy=policy))
    assert done.dropped
    assert await asked(database, LEFT) == 0


@pytest.mark.parametrize("tape", chosen())
async def test_answers_from_the_archive_are_those_from_before(
    database: Database, tmp_path: Path, tape: str
) -> None:
    before = await answers_of_old(database, tape, tmp_path)

    await drop_all(database, tmp_path / "archive")
    after = await answers(database, tape, tmp_path)

    for old, new in zip(before, after, strict=True):
        assert new.question == old.question
        assert ARCHIVED.sub("", new.text) == old.text, old.question
