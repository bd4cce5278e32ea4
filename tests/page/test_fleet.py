"""The fleet: what happened to any node, newest first."""

from datetime import UTC, datetime

from playwright.sync_api import expect

from tests.page.conftest import DUMP, LOGS, Opener


def test_an_incident_is_one_line_that_reads_as_a_sentence(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?log=2")
    line = tab.says(".incident")

    assert "gpu-002" in line
    assert "rebooted" in line
    assert "hung-kernel" in line
    assert "by node-lifecycle-controller" in line
    assert "job/train/llm-pretrain, 24 GPUs" in line
    assert "proven" in line
    tab.page.click(".incident .cost a")
    tab.ready()
    assert tab.address == "/workload/job/train/llm-pretrain?log=2"


def test_the_title_says_the_finding(open_tab: Opener) -> None:
    tab = open_tab()

    assert tab.page.title().startswith("gpu-002 rebooted at 11:27:15")


def test_nodes_that_one_cause_struck_are_one_line(open_tab: Opener) -> None:
    tab = open_tab("/?log=3")

    assert tab.says(".incident .node") == "rack-2 gpu-002, gpu-005"
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


def test_other_words_are_searched_in_incidents(open_tab: Opener) -> None:
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

    assert "No such log: 99." in tab.says(".empty")
    assert "loading" not in tab.says("header")
    tab.page.click(".empty a")
    tab.ready()
    assert tab.page.locator(".incident").count() == 1

    tab = open_tab("/nodes/gpu-002")
    assert "no page /nodes/gpu-002" in tab.says(".empty")
    tab.page.click("text=the node gpu-002")
    tab.ready()
    assert "/node/gpu-002" in tab.address


def test_all_clusters_are_one_list(open_tab: Opener) -> None:
    tab = open_tab("/")
    assert "6 other logs not shown" in tab.says(".fleet p.quiet")
    tab.page.click("text=show all")
    tab.ready()

    assert "log=all" in tab.address
    assert "7 incidents" in tab.says("h1")
    assert "in 7 clusters" in tab.says("h1")
    clusters = tab.page.locator(".incident .node small").all_inner_texts()
    assert {text.split(",")[0] for text in clusters} < {*LOGS, DUMP}
    assert "of 2 clusters is incomplete" in tab.says(".note.hatched")
    tab.page.locator(".incident a", has_text="rack-2").click()
    tab.ready()
    assert "log=3" in tab.address


def test_a_heading_sorts_the_list_by_what_it_shows(open_tab: Opener) -> None:
    tab = open_tab("/?log=all")
    day, times = None, []
    lines = tab.page.locator(".incidents .day th, .incident time")
    for text in lines.all_inner_texts():
        if "incident" in text:
            day = datetime.strptime(text[:11], "%d %b %Y").replace(tzinfo=UTC)
        else:
            times.append((day, text))
    assert times == sorted(times, reverse=True)

    tab.page.click(".incidents th >> text=Cause")
    assert "sort=cause" in tab.address
    causes = tab.page.locator(".incident .cause").all_inner_texts()
    shown = [text.replace("cause unknown", "unrecorded") for text in causes]
    assert shown == sorted(shown)
    again = open_tab(tab.address)
    assert again.page.locator(".incident .cause").all_inner_texts() == causes


def test_a_facet_counts_what_is_listed_and_narrows_it(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?log=all")
    for name in ("Cause", "Happened", "Confidence", "Controller"):
        facet = tab.page.locator(f".facets section[aria-label='{name}'] b")
        assert sum(map(int, facet.all_inner_texts())) == 7, name

    tab.page.click(".facets a >> text=node-lifecycle-controller")
    expect(tab.page.locator(".facets a.chosen")).to_have_count(1)
    expect(tab.page.locator(".incident")).to_have_count(2)
    assert "filter=controller:node-lifecycle-controller" in tab.address
    again = open_tab(tab.address)
    expect(again.page.locator(".incident")).to_have_count(2)
    again.page.click(".facets a.chosen")
    expect(again.page.locator(".incident")).to_have_count(7)


def test_incidents_are_grouped_by_what_is_chosen(open_tab: Opener) -> None:
    tab = open_tab("/?log=all")
    tab.page.select_option(".facets select", "confidence")

    assert "group=confidence" in tab.address
    groups = tab.page.locator(".incidents .day th").all_inner_texts()
    words = {text.split()[0] for text in groups}
    assert words <= {"proven", "likely", "possible", "unknown"}
    assert len(words) > 1


def test_severity_is_a_word_beside_its_colour(open_tab: Opener) -> None:
    tab = open_tab("/?log=3")

    assert tab.says(".incident .severity") == "work hit"
    colour = "getComputedStyle(document.querySelector({!r}), '::before').{}"
    painted = tab.page.evaluate(
        colour.format(".incident .severity", "backgroundColor")
    )
    assert painted == "rgb(230, 159, 0)"


def test_a_heat_map_narrows_to_one_node_and_hour(open_tab: Opener) -> None:
    tab = open_tab("/?log=3")
    assert "rack-2 1" in tab.says("[aria-labelledby=heat-rack] tbody")

    tab.page.click("[aria-labelledby=heat-node] tbody td a >> nth=1")
    tab.ready()
    assert "filter=node:gpu-005" in tab.address
    assert "from=2026-11-21T13:00:00Z&to=2026-11-21T14:00:00Z" in tab.address
    assert tab.page.locator(".incident").count() == 1


def test_a_rack_of_the_heat_map_leaves_what_it_counts(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?log=3")
    tab.page.click("[aria-labelledby=heat-rack] tbody td a >> nth=0")
    tab.ready()

    assert "filter=rack:rack-2" in tab.address
    assert tab.page.locator(".incident").count() == 1


def test_hours_by_namespace_add_up_to_what_the_headline_says(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?log=3")
    hours = tab.page.locator(".hours b").all_inner_texts()

    assert f"at least {sum(map(float, hours)):.2f} GPU-hours" in tab.says("h1")
