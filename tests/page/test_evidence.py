"""An entry, opened: sentence, clocks, who, what changed, the document."""

from playwright.sync_api import expect

from tests.page.conftest import Opener

OPENED = "/node/gpu-002?entry=1/72"


def test_a_step_of_the_chain_opens_its_entry(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    tab.page.locator(".chain > li > a").nth(1).click()
    tab.ready()

    assert "entry=1/80" in tab.address
    assert "DisruptionTarget" in tab.says(".evidence .says")


def test_the_records_of_a_step_are_opened_on_demand(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    records = tab.page.locator(".chain > li").first.locator(".records")
    expect(records.locator("li").first).to_be_hidden()

    records.locator("summary").click()
    assert records.locator(".code").all_inner_texts() == [
        "1/72",
        "1/75",
        "1/77",
    ]
    records.locator("a").first.click()
    tab.ready()

    assert "entry=1/72" in tab.address
    assert "Kubelet stopped posting node status" in tab.says(".evidence .says")
    assert tab.page.title().startswith("1/72 · gpu-002 rebooted")


def test_three_timestamps_are_shown_separately(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002?entry=1/88")
    clocks = tab.says(".clocks")

    assert "occurred 21 Nov 2026, 11:27:15.000 UTC" in clocks
    assert "observed 21 Nov 2026, 11:27:15.347 UTC" in clocks
    assert "recorded" in clocks


def test_a_clock_that_nothing_claims_is_said_to_be_none(
    open_tab: Opener,
) -> None:
    tab = open_tab(OPENED)

    assert "occurred no source reports it" in tab.says(".clocks")


def test_an_author_is_shown_with_how_it_is_known(open_tab: Opener) -> None:
    tab = open_tab(OPENED)

    assert "kube-controller-manager field manager" in tab.says(".evidence")


def test_an_event_names_its_reporter(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002?entry=1/88")

    assert "kubelet reported the Event" in tab.says(".evidence")


def test_only_what_changed_is_shown(open_tab: Opener) -> None:
    tab = open_tab(OPENED)
    changes = tab.says(".changes")

    assert "status.conditions[type=Ready].status" in changes
    assert "Unknown" in changes
    assert "labels" not in changes


def test_the_document_opens_as_it_was_recorded(open_tab: Opener) -> None:
    tab = open_tab(OPENED)
    expect(tab.page.locator(".raw pre")).to_be_hidden()
    tab.page.click(".raw summary")

    assert '"kind": "Node"' in tab.page.locator(".raw pre").inner_text()


def test_the_name_of_an_entry_is_copied(open_tab: Opener) -> None:
    tab = open_tab(OPENED)
    tab.page.click("text=Copy name")
    expect(tab.page.locator(".said")).to_have_text("Copied.")

    assert tab.page.evaluate("navigator.clipboard.readText()") == "1/72"


def test_an_entry_leads_to_its_object_and_the_version_before(
    open_tab: Opener,
) -> None:
    tab = open_tab(OPENED)
    tab.page.click(".evidence h3 a")
    tab.ready()
    assert "entry=1/2" in tab.address

    tab.page.click(".evidence p a")
    tab.ready()
    assert tab.address == "/object/node/gpu-002"


def test_text_of_the_cluster_stays_text(open_tab: Opener) -> None:
    tab = open_tab("/?filter=<img src=x onerror=alert(1)>")

    assert "<img src=x onerror=alert(1)>" in tab.says(".empty")
    assert tab.page.locator("img").count() == 0
