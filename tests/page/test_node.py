"""A node: why, over its timeline, down to the entry."""

import re

from playwright.sync_api import Route, expect

from tests.page.conftest import Opener
from tests.page.tab import Tab

CANVAS = ".box canvas"

VIVID_SHARES = """rows => {
  const canvas = document.querySelector('.box canvas');
  const { top } = canvas.getBoundingClientRect();
  const wide = Math.floor(canvas.width / 2);
  const { data } = canvas.getContext('2d')
    .getImageData(0, 0, wide, canvas.height);
  return rows.map(row => {
    const first = 4 * wide * Math.round(row - top - 13);
    const lane = data.subarray(first, first + 4 * wide * 26);
    let vivid = 0;
    for (let at = 0; at < lane.length; at += 4) {
      const pixel = lane.subarray(at, at + 3);
      if (Math.max(...pixel) - Math.min(...pixel) > 40) vivid += 1;
    }
    return vivid / (lane.length / 4);
  });
}"""
"""Of lanes, the share of pixels with a colour: ground and hatch are grey."""

SHARE_OF_A_HAIR = 0.06
"""Of the pixels of a lane; a bar has more than a quarter of them."""


def on_lane(tab: Tab, title: str, share: float) -> tuple[float, float]:
    """Return a place on a lane, by its share of the width."""
    canvas = tab.page.locator(CANVAS)
    canvas.scroll_into_view_if_needed()
    name = tab.page.locator(".names li", has_text=re.compile(f"^{title}"))
    lane = name.first.bounding_box()
    box = canvas.bounding_box()
    assert lane is not None
    assert box is not None
    return box["x"] + share * box["width"], lane["y"] + lane["height"] / 2


def test_a_node_is_shown_when_something_happened_to_it_last(
    open_tab: Opener,
) -> None:
    tab = open_tab("/node/gpu-002")

    assert "from=2026-11-21T11:26" in tab.address
    assert tab.page.title().startswith("gpu-002 rebooted")
    assert "unknown" in tab.says(".verdict.open header .sure")


def test_the_chain_is_numbered_and_names_its_entries(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002?log=2")
    steps = tab.page.locator(".chain .step").all_inner_texts()
    roles = tab.page.locator(".chain .role").all_inner_texts()

    assert steps == [str(n) for n in range(1, len(steps) + 1)]
    assert roles[0] == "fault"
    assert roles[-1] == "recovery"
    assert re.fullmatch(r"2/\d+", tab.says(".chain .code"))


def test_rivals_and_what_is_missing_are_shown(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    doubts = tab.says(".doubts")

    assert "excluded network-partition" in doubts
    assert "possible kernel-panic" in doubts
    assert "audit would show" in doubts


def test_every_kind_of_lane_is_there(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    names = tab.page.locator(".names .name").all_inner_texts()

    for name in (
        "service",
        "Ready",
        "boot",
        "unreachable:NoExecute",
        "kube-controller-manager",
        "Events",
        "train/llm-pretrain",
        "recorder",
    ):
        assert name in names


def test_what_is_pointed_at_lights_up_in_the_chain_and_on_the_lanes(
    open_tab: Opener,
) -> None:
    tab = open_tab("/node/gpu-002")
    dark = tab.pixels(CANVAS)
    step = tab.page.locator(".chain > li").nth(2)
    step.hover()
    tab.page.evaluate("new Promise(requestAnimationFrame)")

    assert "lit" in (step.get_attribute("class") or "")
    assert tab.pixels(CANVAS) != dark


def test_pointing_at_a_lane_shows_what_and_exactly_when(
    open_tab: Opener,
) -> None:
    tab = open_tab("/node/gpu-002")
    tab.page.mouse.move(*on_lane(tab, "Ready", 0.6))

    assert "Ready: Unknown: NodeStatusUnknown" in tab.says(".tip")
    assert re.match(r"11:27:\d\d\.\d{3} UTC", tab.says(".tip"))
    expect(tab.page.locator(".chain .lit")).to_have_count(1)


def test_a_second_line_is_pinned_and_measured_from(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    tab.page.mouse.click(*on_lane(tab, "Events", 0.25))
    tab.page.mouse.move(*on_lane(tab, "Events", 0.35))

    expect(tab.page.locator(".pointer.pinned")).to_be_visible()
    assert "+" in tab.says(".tip")


def test_a_click_on_a_lane_opens_the_entry(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    tab.page.mouse.click(*on_lane(tab, "Ready", 0.6))
    tab.ready()

    assert "entry=1/72" in tab.address
    assert "1/72" in tab.says(".evidence h2")


def test_dragging_moves_the_window_and_the_address(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    before = tab.address
    x, y = on_lane(tab, "Events", 0.5)
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 300, y, steps=5)
    tab.page.mouse.up()
    tab.page.wait_for_function(
        "old => location.pathname + location.search !== old", arg=before
    )
    tab.ready()

    assert "from=2026-11-21T11:25" in tab.address


def test_the_wheel_with_control_comes_closer(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    before = tab.address
    tab.page.mouse.move(*on_lane(tab, "service", 0.5))
    tab.page.keyboard.down("Control")
    tab.page.mouse.wheel(0, -400)
    tab.page.keyboard.up("Control")
    tab.page.wait_for_function(
        "old => location.pathname + location.search !== old", arg=before
    )
    tab.ready()

    times = re.findall(
        r"(?:from|to)=\S+?:(\d\d):(\d\d(?:\.\d+)?)", tab.address
    )
    seconds = [int(minute) * 60 + float(second) for minute, second in times]
    assert seconds[1] - seconds[0] < 60


def test_a_lane_is_folded_pinned_and_moved_and_a_link_has_it(
    open_tab: Opener,
) -> None:
    tab = open_tab("/node/gpu-002")
    for says in ("collapse: condition DiskPressure", "pin to top: events"):
        tab.page.get_by_label(says).focus()
        tab.page.keyboard.press("Enter")
    tab.page.get_by_label("move up: recorder").focus()
    tab.page.keyboard.press("Enter")
    names = tab.page.locator(".names .name").all_inner_texts()

    assert names[0] == "Events"
    assert names[-2] == "recorder"
    assert "DiskPressure" not in names
    again = open_tab(tab.address)
    assert again.page.locator(".names .name").all_inner_texts() == names


def test_the_map_of_everything_moves_the_window(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    before = tab.address
    field = tab.page.locator(".node .strip .field").bounding_box()
    assert field is not None
    tab.page.mouse.click(field["x"] + 100, field["y"] + 10)
    tab.ready()

    assert tab.address != before


def test_jobs_that_were_hit_lead_to_the_job(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    assert "restarted" in tab.says("#jobs")

    tab.page.click("#jobs .hits a")
    tab.ready()
    assert tab.address.startswith("/workload/job/train/llm-pretrain")


def test_every_fact_of_the_canvas_is_in_the_list(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    listed = tab.page.locator("table.facts tbody").inner_text()

    assert "Rebooted: Node gpu-002 has been rebooted" in listed
    assert "tainted node.kubernetes.io/unreachable:NoExecute" in listed
    assert "kube-controller-manager" in listed


def test_a_gap_is_hatched_on_the_lanes_that_it_concerns(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?log=4")
    tab.page.click(".incident a")
    tab.ready()

    assert "The recording is incomplete here" in tab.says("#why .note.hatched")
    box = tab.page.locator(CANVAS).bounding_box()
    assert box is not None
    said = set()
    for share in range(2, 100, 2):
        tab.page.mouse.move(*on_lane(tab, "recorder", share / 100))
        said.add(tab.says(".tip").partition("recorder: ")[2])
    assert any(words.startswith("gap: v1/") for words in said), said


def test_under_a_gap_no_state_is_drawn_as_if_it_had_been_seen(
    open_tab: Opener,
) -> None:
    """In its first half the picture has nothing but the gap."""
    tab = open_tab("/node/gpu-002?log=4")
    rows = [on_lane(tab, lane, 0)[1] for lane in ("service", "Ready")]
    vivid: list[float] = tab.page.evaluate(VIVID_SHARES, rows)

    assert max(vivid) < SHARE_OF_A_HAIR, vivid


def test_nothing_is_called_complete_above_sources_not_recorded(
    open_tab: Opener,
) -> None:
    tab = open_tab("/node/gpu-002?log=2")

    assert "audit would show" in tab.says(".doubts")
    assert "Complete" not in tab.says("#why")
    assert "Not recorded: audit" in tab.says("#why .note")


def test_a_verdict_names_the_gaps_that_it_rests_on(open_tab: Opener) -> None:
    tab = open_tab("/?log=4")
    tab.page.click(".incident a")
    tab.ready()
    gaps = tab.page.locator(".doubts section").filter(
        has_text="Gaps that affect this verdict"
    )

    gaps.locator("a").first.click()
    tab.ready()

    assert "entry=4/" in tab.address
    assert "watch expired (410)" in tab.says(".evidence")


def test_a_verdict_says_how_many_records_it_leaves_out(
    open_tab: Opener,
) -> None:
    def of_a_long_chain(route: Route) -> None:
        answer = route.fetch()
        said = answer.text().replace(
            '"evidenceLeftOut":0', '"evidenceLeftOut":12'
        )
        route.fulfill(response=answer, body=said)

    tab = open_tab()
    assert "leaves out" not in tab.says("body")
    tab.page.route("**/graphql", of_a_long_chain)
    tab.page.click(".incident a")
    tab.ready()

    doubts = tab.says(".doubts")
    assert "Evidence not shown" in doubts
    assert "12 more records" in doubts


def test_a_node_that_is_not_there_is_said_to_be_none(
    open_tab: Opener,
) -> None:
    tab = open_tab()
    tab.page.goto("/node/gpu-999")
    tab.page.wait_for_selector("body[data-state=failed]")

    assert "gpu-999" in tab.says(".trouble")
    tab.complaints.clear()


def test_the_postmortem_is_copied_and_saved(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    tab.page.click("text=Copy as Markdown")
    expect(tab.page.locator(".said")).to_have_text("Copied.")
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    with tab.page.expect_download() as saved:
        tab.page.click("text=Save as HTML")

    assert copied.startswith("# ")
    assert "gpu-002 rebooted" in copied
    assert saved.value.suggested_filename == "postmortem-gpu-002.html"
    assert "gpu-002 rebooted" in saved.value.path().read_text()


def test_on_paper_the_page_is_the_postmortem(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002?entry=1/72")
    tab.page.emulate_media(media="print")

    expect(tab.page.locator(".head")).to_be_hidden()
    expect(tab.page.locator(".evidence")).to_be_hidden()
    expect(tab.page.locator(".verdict .sentence")).to_be_visible()
    expect(tab.page.locator("table.facts")).to_be_visible()
