"""The page lists drawn workloads with what became of them."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.page.conftest import Opener, serving
from tests.support.filled import filled_database
from tests.support.postgres import DatabaseServer
from tests.support.sampling import sampled
from tests.support.seeded_jobs import FATES, drawn
from tests.support.written_log import WrittenLog

(SEED, *_) = sampled("seeds of listed workloads", range(1000), 1)
"""Another one for each commit."""

STORY = drawn(SEED, 110)
"""More than a page."""


@pytest.fixture(scope="module")
def served(embedded_server: DatabaseServer) -> Iterator[str]:
    async def fill(writer: str) -> None:
        log = WrittenLog(writer)
        await log.lease()
        for batch in STORY.batches():
            await log.append(*batch)
        await log.end()

    with (
        filled_database(embedded_server, fill) as database,
        serving(database) as address,
    ):
        yield address


def test_each_workload_is_shown_with_what_ended_it(open_tab: Opener) -> None:
    window = "from=2026-11-21T02:00:00Z&to=2026-11-21T06:00:00Z"
    tab = open_tab(f"/jobs?{window}&sort=job")
    rows = tab.page.locator(".jobs .node a")
    names = sorted(f"{one.namespace}/{one.name}" for one in STORY.truths)

    assert rows.all_inner_texts() == names[:100]
    tab.page.click("text=More jobs")
    tab.ready()
    assert rows.all_inner_texts() == names
    tab.page.click(".jobs th >> text=Job")
    tab.ready()
    assert rows.all_inner_texts() == names[:-101:-1]
    ended = Counter(FATES[one.fate] for one in STORY.truths)
    by = tab.page.locator(".facets section[aria-label='Ended by'] a")
    shown = {
        word: int(count)
        for word, count in (
            one.split("\n")[-2:] for one in by.all_inner_texts()
        )
    }
    assert shown == {word: count for word, count in ended.items() if word}
