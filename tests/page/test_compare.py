"""Two nodes, or one at two times, on one axis; and what became of a job."""

from playwright.sync_api import expect

from tests.page.conftest import Opener

BOTH = "/compare/gpu-002?log=3&other=gpu-005"


def test_two_nodes_of_a_gang_are_on_one_axis(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002?log=3")
    tab.page.click(".does >> text=Compare")
    tab.ready()
    tab.page.click(".suggested >> text=gpu-005, of the same gang")
    tab.ready()
    names = tab.page.locator(".names .name").all_inner_texts()

    assert tab.address.startswith("/compare/gpu-002?log=3")
    assert "other=gpu-005" in tab.address
    assert names[:4] == [
        "gpu-002 service",
        "gpu-005 service",
        "gpu-002 Ready",
        "gpu-005 Ready",
    ]
    assert "gpu-002 rebooted at 13:51:05" in tab.says(".side >> nth=0")
    assert "gpu-005 rebooted at 13:51:07" in tab.says(".side >> nth=1")
    assert tab.page.locator(".timeline .axis").count() == 1


def test_a_node_is_compared_with_itself_at_another_time(
    open_tab: Opener,
) -> None:
    tab = open_tab("/compare/gpu-002")
    tab.page.fill("input[name=time]", "11:26:20")
    tab.page.click("form >> text=Compare")
    tab.ready()
    drawn = tab.pixels(".box canvas")
    names = tab.page.locator(".names .name").all_inner_texts()

    assert "shift=" in tab.address
    assert {"① service", "② service"} <= set(names)
    again = open_tab(tab.address)
    assert again.pixels(".box canvas") == drawn


def test_what_is_compared_opens_down_to_the_entry(open_tab: Opener) -> None:
    tab = open_tab(f"{BOTH}&entry=3/174")

    expect(tab.page.locator(".evidence h2 .code")).to_have_text("3/174")
    assert tab.page.title().startswith("3/174 · gpu-002 compared with gpu-005")


def test_a_search_for_a_job_answers_what_hit_it(open_tab: Opener) -> None:
    tab = open_tab()
    tab.keys("/")
    tab.page.keyboard.type("llm-pretrain")
    expect(tab.page.locator("dialog .job")).to_contain_text(
        "Job train/llm-pretrain lost 1 of 3 Pods on gpu-002"
    )
    tab.keys("Enter")
    tab.ready()

    assert tab.address.startswith("/workload/job/train/llm-pretrain")
    assert "lost 1 of 3 Pods" in tab.says("p.sentence")
