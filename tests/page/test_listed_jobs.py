"""The list of jobs, and the views of those without Pods.

Log 1 is of jobs that wait, 2 has jobs of Slurm, 3 has drawn workloads.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.api import test_slurm_jobs, test_waiting_jobs
from tests.api.test_waiting_jobs import QUOTA
from tests.page.conftest import SCREENSHOTS, Opener, serving
from tests.page.tab import Tab
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import DatabaseServer
from tests.support.sampling import sampled
from tests.support.seeded_jobs import FATES, drawn
from tests.support.written_log import LIVE

WIDTHS = {390: 844, 1440: 900}
"""Of a phone and a laptop, with their heights."""

(SEED, *_) = sampled("seeds of listed workloads", range(1000), 1)
"""Another one for each commit."""

DRAWN = drawn(SEED, 110)
"""More than a page."""

SPEC = replace(LIVE, cluster_name="drawn", cluster_uid="44444444-drawn")
WINDOW = "from=2026-11-21T02:00:00Z&to=2026-11-21T06:00:00Z"


@pytest.fixture(scope="module")
def served(embedded_server: DatabaseServer) -> Iterator[str]:
    """The address of `recorder serve`, of a log of each."""

    async def fill(writer: str) -> None:
        await test_waiting_jobs.fill(writer)
        await test_slurm_jobs.fill(writer)
        await write_log(writer, DRAWN.batches(), spec=SPEC, with_facts=True)

    with (
        filled_database(embedded_server, fill) as database,
        serving(database) as address,
    ):
        yield address


def fits(tab: Tab, name: str) -> None:
    """Check that a view is no wider than a phone and a laptop."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width, height in WIDTHS.items():
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.settle()
        tab.page.screenshot(
            path=SCREENSHOTS / f"{name}-{width}.png", full_page=True
        )
        assert tab.size[0] <= width


def test_a_job_without_pods_says_what_keeps_it_from_starting(
    open_tab: Opener,
) -> None:
    tab = open_tab("/jobs?log=1")
    tab.page.click("text=train/stuck")
    tab.ready()

    assert QUOTA[:60] in tab.says(".sentence")
    assert QUOTA[:60] in tab.says(".members td.whole")
    assert "No Pods recorded" in tab.says(".workload")
    fits(tab, "waiting")
    tab.page.click(".members a.code")
    tab.ready()
    assert "entry=" in tab.address


def test_a_job_of_slurm_is_listed_and_says_what_ended_it(
    open_tab: Opener,
) -> None:
    tab = open_tab(f"/jobs?log=2&{WINDOW}")
    names = "llm, user ann, account research, partition train, QOS high"
    row = ".jobs tr:has-text('lab/7')"

    assert tab.says("h1").startswith("3 jobs, ended or lost Pods or members")
    assert f"SlurmJob, {names}" in tab.says(row)
    assert "node-failure" in tab.says(row)
    tab.page.click(".facets section[aria-label=User] a >> text=ann")
    tab.ready()
    assert tab.page.locator(".jobs .node a").all_inner_texts() == ["lab/7"]
    fits(tab, "slurm-jobs")
    tab.page.click(".jobs .node a")
    tab.ready()

    assert tab.says("h1") == "slurmjob lab/7 failed"
    assert tab.says(".title .quiet") == names
    assert tab.says(".sentence").startswith(test_slurm_jobs.ENDED)
    assert tab.says(".verdict.open .sure") == "proven"
    assert "ended with its run" in tab.says(".members")
    assert "7.gpu-003 gpu-003" in tab.says(".pods tbody tr:last-child")
    assert tab.says(".pods tbody tr:last-child").endswith("gone")
    assert "Pod" not in tab.says(".workload")
    fits(tab, "slurm-job")


def test_each_workload_is_shown_with_what_ended_it(open_tab: Opener) -> None:
    tab = open_tab(f"/jobs?log=3&{WINDOW}&sort=job")
    rows = tab.page.locator(".jobs .node a")
    names = sorted(f"{one.namespace}/{one.name}" for one in DRAWN.truths)

    assert rows.all_inner_texts() == names[:100]
    tab.page.click("text=More jobs")
    tab.ready()
    assert rows.all_inner_texts() == names
    tab.page.click(".jobs th >> text=Job")
    tab.ready()
    assert rows.all_inner_texts() == names[:-101:-1]
    ended = Counter(FATES[one.fate] for one in DRAWN.truths)
    assert counts(tab, "Ended by") == {o: n for o, n in ended.items() if o}
    assert counts(tab, "State") == Counter(o.state for o in DRAWN.truths)


def counts(tab: Tab, facet: str) -> dict[str, int]:
    """Return the words of a facet, and how many jobs each selects."""
    words = tab.page.locator(f".facets section[aria-label='{facet}'] a")
    pairs = (one.split("\n")[-2:] for one in words.all_inner_texts())
    return {word: int(count) for word, count in pairs}
