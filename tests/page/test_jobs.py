"""The jobs: what ended them, and who."""

from tests.page.conftest import Opener
from tests.page.tab import Tab


def jobs_of(tab: Tab) -> list[str]:
    """Return the names of the listed jobs."""
    return tab.page.locator(".jobs .node a").all_inner_texts()


def test_a_job_says_what_ended_it_and_who(open_tab: Opener) -> None:
    tab = open_tab("/?log=6")
    tab.page.click("nav >> text=Jobs")
    tab.ready()

    assert tab.address == "/jobs?log=6"
    assert tab.says("h1").startswith("2 jobs, ended or lost Pods 1 time")
    assert jobs_of(tab) == ["train/llm-research", "train/llm-production"]
    assert tab.says(".jobs .cause") == "preemption by job/train/llm-production"
    assert "Job train/llm-research lost 2 Pods" in tab.page.title()
    tab.keys("j", "c")
    assert tab.page.locator(".jobs .chosen").count() == 1
    assert "job/train/llm-research (down)" in tab.page.evaluate(
        "navigator.clipboard.readText()"
    )
    tab.keys("Enter")
    tab.ready()
    assert "Cause preemption" in tab.says(".verdict.open")
    tab.page.click("text=Copy as Markdown")
    tab.page.wait_for_selector("text=Copied.")
    assert "in favor of Job train/llm-production" in tab.page.evaluate(
        "navigator.clipboard.readText()"
    )


def test_jobs_of_all_clusters_are_narrowed_and_sorted(
    open_tab: Opener,
) -> None:
    tab = open_tab("/jobs?log=all")
    count = len(jobs_of(tab))
    states = tab.page.locator(".facets section[aria-label=State] b")
    assert sum(map(int, states.all_inner_texts())) == count

    tab.page.click(".facets a >> text=node-failure")
    tab.ready()
    assert "filter=node-failure" in tab.address
    assert 1 < len(jobs_of(tab)) < count
    tab.page.click(".jobs th >> text=GPUs")
    gpus = tab.page.locator(".jobs [data-name=GPUs]").all_inner_texts()
    assert "sort=-gpus" in tab.address
    assert gpus == sorted(gpus, key=int, reverse=True)
    tab.page.fill(".filter input", "node-failure power-loss")
    tab.ready()
    assert jobs_of(tab) == ["train/llm"]
    tab.page.click(".jobs .node a")
    tab.ready()
    assert tab.address.startswith(
        "/workload/jobset/train/llm?log=3&verdict=3/"
    )
