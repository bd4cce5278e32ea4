"""The keyboard does all that the hand does."""

import re

from playwright.sync_api import expect

from tests.page.conftest import Opener

NODE = "/node/gpu-002?from=2026-11-21T11:26:10Z&to=2026-11-21T11:27:40Z"


def test_j_and_enter_open_an_incident(open_tab: Opener) -> None:
    tab = open_tab()
    tab.keys("j")
    assert tab.page.locator(".incident.chosen").count() == 1

    tab.keys("Enter")
    tab.ready()
    assert tab.address.startswith("/node/gpu-002")


def test_j_and_k_go_from_fact_to_fact(open_tab: Opener) -> None:
    tab = open_tab(NODE)
    tab.keys("j", "j", "k", "j")
    second = tab.page.locator("table.facts tbody tr").nth(1)

    assert "chosen" in (second.get_attribute("class") or "")
    tab.keys("Enter")
    tab.ready()
    assert "entry=1/" in tab.address


def test_digits_open_the_steps_of_the_chain(open_tab: Opener) -> None:
    tab = open_tab(NODE)
    tab.keys("2")
    tab.ready()
    assert "entry=1/80" in tab.address

    tab.keys("Escape")
    expect(tab.page.locator(".evidence")).to_have_count(0)


def test_n_and_p_reach_every_record_of_the_verdict(open_tab: Opener) -> None:
    tab = open_tab(NODE)
    listed = tab.page.locator(".records .code, .chain .code")
    records = set(listed.all_text_contents())
    reached = set()
    for _ in records:
        tab.keys("n")
        reached.add(tab.says(".evidence h2 .code"))

    assert len(records) > 9
    assert reached == records
    tab.keys("p")
    assert tab.says(".evidence h2 .code") in records
    tab.ready()


def test_arrows_pan_and_plus_and_minus_zoom(open_tab: Opener) -> None:
    tab = open_tab(NODE)
    addresses = [tab.address]
    for key in ("ArrowLeft", "ArrowRight", "+", "-"):
        tab.keys(key)
        tab.ready()
        addresses.append(tab.address)

    assert addresses[1] != addresses[0]
    assert addresses[2] == addresses[0]
    assert addresses[3] != addresses[0]
    assert addresses[4] == addresses[0]


def test_f_fits_the_window_to_what_happened(open_tab: Opener) -> None:
    tab = open_tab(
        "/node/gpu-002?from=2026-11-21T10:00:00Z&to=2026-11-21T12:00:00Z"
    )
    tab.keys("f")
    tab.ready()

    assert re.search(r"from=2026-11-21T11:26:3\d", tab.address)


def test_g_goes_to_a_time(open_tab: Opener) -> None:
    tab = open_tab(NODE)
    tab.keys("g")
    tab.page.keyboard.type("no time")
    tab.keys("Enter")
    assert "is not a time" in tab.says("dialog [role=alert]")

    tab.page.fill("dialog input", "11:30")
    tab.keys("Enter")
    tab.ready()
    assert "from=2026-11-21T11:29:15Z" in tab.address


def test_u_switches_the_zone_and_the_address_keeps_it(
    open_tab: Opener,
) -> None:
    tab = open_tab()
    assert tab.says(".incident time") == "11:26:34"

    tab.keys("u")
    expect(tab.page.locator(".incident time")).to_have_text("16:56:34")
    assert "zone=local" in tab.address
    assert "UTC+05:30" in tab.says(".day")


def test_a_slash_searches_and_enter_opens_what_was_found(
    open_tab: Opener,
) -> None:
    tab = open_tab()
    tab.keys("/")
    tab.page.keyboard.type("gpu-003")
    expect(tab.page.locator("dialog .hits li").first).to_contain_text(
        "gpu-003"
    )
    tab.keys("Enter")
    expect(tab.page.locator("h1")).to_contain_text("gpu-003")
    tab.ready()

    assert tab.address.startswith("/node/gpu-003")


def test_an_entry_is_found_by_its_name(open_tab: Opener) -> None:
    tab = open_tab()
    tab.keys("/")
    tab.page.keyboard.type("1/72")
    expect(tab.page.locator("dialog .hits li").first).to_contain_text("1/72")
    tab.keys("Enter")
    expect(tab.page.locator(".evidence h2")).to_contain_text("1/72")
    tab.ready()


def test_c_copies_the_list_as_markdown(open_tab: Opener) -> None:
    tab = open_tab()
    tab.keys("c")
    expect(tab.page.locator(".said")).to_have_text("Copied.")
    copied = tab.page.evaluate("navigator.clipboard.readText()")

    assert copied.startswith("* 21 Nov 2026, 11:26:34 UTC: gpu-002 rebooted")


def test_a_question_mark_shows_all_keys(open_tab: Opener) -> None:
    tab = open_tab()
    tab.keys("?")
    keys = tab.says("dialog .keys")

    for word in ("search", "UTC", "Markdown", "step of the verdict"):
        assert word in keys
    tab.keys("Escape")
    expect(tab.page.locator("dialog")).to_have_count(0)


def test_the_focus_is_seen_and_goes_in_order(open_tab: Opener) -> None:
    tab = open_tab()
    seen = []
    for _ in range(8):
        tab.keys("Tab")
        outline = tab.page.evaluate(
            "getComputedStyle(document.activeElement).outlineStyle"
        )
        assert outline == "solid"
        seen.append(tab.page.evaluate("document.activeElement.innerText"))

    assert seen[0] == "To what happened"
    assert seen[1].strip() == "Recorder"
    assert seen[2:4] == ["Fleet", "Jobs"]
