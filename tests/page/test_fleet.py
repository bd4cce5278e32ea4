"""The fleet: what happened to any node, newest first."""

from playwright.sync_api import expect

from tests.page.conftest import Opener


def test_an_incident_is_one_line_that_reads_as_a_sentence(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?log=2")
    line = tab.says(".incident")

    assert "gpu-002" in line
    assert "rebooted" in line
    assert "hung-kernel" in line
    assert "proven" in line


def test_the_title_says_the_finding(open_tab: Opener) -> None:
    tab = open_tab()

    assert tab.page.title().startswith("gpu-002 rebooted at 11:27:15")


def test_nodes_that_one_cause_struck_are_one_line(open_tab: Opener) -> None:
    tab = open_tab("/?log=3")

    assert "nodes" in tab.says(".incident .node")
    assert "power-loss" in tab.says(".incident .cause")


def test_an_incident_leads_to_its_node_with_its_verdict_open(
    open_tab: Opener,
) -> None:
    tab = open_tab()
    tab.page.click(".incident a")
    tab.ready()

    assert tab.address.startswith("/node/gpu-002?")
    assert "rebooted at 11:27:15" in tab.says(".verdict.open .sentence")


def test_back_leads_to_the_fleet_again_and_forward_to_the_node(
    open_tab: Opener,
) -> None:
    tab = open_tab()
    tab.page.click(".incident a")
    tab.ready()
    there = tab.address
    tab.page.go_back()
    expect(tab.page.locator(".incident")).to_have_count(1)

    assert tab.address == "/"
    tab.page.go_forward()
    expect(tab.page.locator(".verdict.open")).to_be_visible()
    assert tab.address == there


def test_a_filter_of_the_contracts_words_is_asked_of_the_recorder(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?log=2")
    with tab.page.expect_request("**/graphql") as asked:
        tab.page.fill(".filter input", "hung-kernel")
    tab.ready()

    assert '"causes":["HUNG_KERNEL"]' in (asked.value.post_data or "")
    assert tab.page.locator(".incident").count() == 1
    assert "filter=hung-kernel" in tab.address


def test_other_words_are_looked_for_in_what_is_told(open_tab: Opener) -> None:
    tab = open_tab("/?filter=llm-pretrain")
    assert tab.page.locator(".incident").count() == 1

    tab.page.fill(".filter input", "no-such-job")
    tab.ready()
    assert tab.page.locator(".incident").count() == 0
    assert "no-such-job" in tab.says(".empty")


def test_an_empty_window_leads_to_what_lies_nearest(open_tab: Opener) -> None:
    tab = open_tab("/?from=2026-11-21T11:26:19Z&to=2026-11-21T11:26:22Z")
    assert "No incidents" in tab.says(".empty")

    tab.page.click(".empty a")
    tab.ready()
    assert tab.address.startswith("/node/")


def test_a_window_with_a_gap_says_so_first(open_tab: Opener) -> None:
    tab = open_tab("/?log=4")

    assert "The recording is incomplete here" in tab.says(".note.hatched")
    expect(tab.page.locator(".strip .hatch").first).to_be_visible()


def test_dragging_over_the_counts_looks_closer(open_tab: Opener) -> None:
    tab = open_tab()
    field = tab.page.locator(".strip .field").bounding_box()
    assert field is not None
    middle = field["y"] + field["height"] / 2
    tab.page.mouse.move(field["x"] + 200, middle)
    tab.page.mouse.down()
    tab.page.mouse.move(field["x"] + 900, middle, steps=4)
    tab.page.mouse.up()
    tab.ready()

    assert "from=2026-11-21T11:26" in tab.address
    assert tab.page.locator(".incident").count() == 1


def test_another_log_is_chosen_in_the_head(open_tab: Opener) -> None:
    tab = open_tab()
    tab.page.select_option("header select[aria-label=Cluster]", "2")
    tab.ready()

    assert "log=2" in tab.address
    assert "hung-kernel" in tab.says(".incident .cause")


def test_a_log_that_is_not_there_is_said_to_be_none(open_tab: Opener) -> None:
    tab = open_tab("/?log=99")

    assert "No such log" in tab.says(".empty")
    tab.page.click(".empty a")
    tab.ready()
    assert tab.page.locator(".incident").count() == 1
