"""An object, a workload, the sources."""

from playwright.sync_api import expect

from tests.page.conftest import Opener


def test_versions_say_who_changed_which_fields(open_tab: Opener) -> None:
    tab = open_tab("/object/node/gpu-002")
    rows = tab.page.locator(".versions tbody tr")
    text = tab.says(".versions tbody")

    assert rows.count() > 5
    assert "incarnations" not in tab.says(".object .quiet")
    assert "status.conditions[type=" in text
    assert "kube-controller-manager" in text
    assert "listed" in rows.last.inner_text()


def test_any_two_versions_are_compared(open_tab: Opener) -> None:
    tab = open_tab("/object/node/gpu-002")
    tab.page.get_by_label("From 1/2", exact=True).check()
    tab.page.get_by_label("To 1/94", exact=True).check()
    tab.ready()
    compared = tab.says(".compared")

    assert "1/2 compared with 1/94" in compared
    assert "bootID" in compared
    assert "left=1/2&right=1/94" in tab.address


def test_the_document_is_shown_as_it_was_at_a_time(open_tab: Opener) -> None:
    tab = open_tab("/object/node/gpu-002")
    tab.page.fill(".document input", "11:26:55")
    tab.page.click(".document button")
    tab.ready()
    document = tab.page.locator(".document pre").inner_text()

    assert "to=2026-11-21T11:26:55Z" in tab.address
    assert "NodeStatusUnknown" in document


def test_each_field_says_who_changed_it_last_and_how_that_is_known(
    open_tab: Opener,
) -> None:
    tab = open_tab("/object/node/gpu-002")
    tab.page.click("text=Last change of each field")
    row = tab.page.locator(".who tr", has_text="status.nodeInfo.bootID")

    assert "kubelet" in row.inner_text()
    assert "managedFields" in row.inner_text()
    row.locator("a").click()
    tab.ready()
    assert "Entry" in tab.says(".evidence header")


def test_a_pod_is_an_object_like_any_other(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002")
    tab.page.click("#objects a >> text=pod/train/llm-pretrain-1-wvzs8")
    tab.ready()

    assert tab.address == "/object/pod/train/llm-pretrain-1-wvzs8"
    assert tab.page.locator(".versions tbody tr").count() > 3
    assert "was deleted at" in tab.says(".document")


def test_a_workload_begins_with_what_ended_it_and_why(
    open_tab: Opener,
) -> None:
    tab = open_tab("/workload/job/train/llm-pretrain")
    card = tab.says(".verdict.open")
    names = tab.page.locator(".names .name").all_inner_texts()

    assert tab.page.title().startswith("Job train/llm-pretrain lost ")
    assert "gpu-002 rebooted at 11:27:15" in card
    assert "Cause node-failure: cause unknown On gpu-002 Lost" in card
    assert tab.page.locator(".chain > li").count() > 1
    assert sorted(names) == ["gpu-001", "gpu-002", "gpu-003"]
    assert "GPU-hours lost" in tab.says(".figures")


def test_an_ending_leads_to_the_verdict_of_each_node(
    open_tab: Opener,
) -> None:
    # A Job of it: the whole is shown.
    tab = open_tab("/workload/job/train/llm-worker-0?log=3")
    expect(tab.page.locator("h1")).to_contain_text("jobset train/llm")
    tab.ready()
    assert tab.address == "/workload/jobset/train/llm?log=3"
    assert "On gpu-002, gpu-005 Lost" in tab.says(".verdict.open .about")
    members = tab.page.locator(".members tbody tr").all_inner_texts()
    lost = [text.split() for text in members if "stopped" not in text]
    assert [words[1] for words in lost] == ["gpu-005", "gpu-002"]
    assert len(members) == 6

    tab.page.click(".verdict.open .about a >> text=gpu-005")
    tab.ready()
    assert tab.address.startswith("/node/gpu-005")
    assert "gpu-005 rebooted" in tab.says(".verdict.open .sentence")
    assert "Jobs hit jobset/train/llm restarted" in tab.says(".about")


def test_a_job_that_no_node_ended_says_what_did(open_tab: Opener) -> None:
    tab = open_tab("/workload/job/train/llm-research?log=6")
    card = tab.says(".verdict.open")

    assert "Cause preemption" in card
    assert "No incidents recorded" not in tab.says("main")
    tab.page.click(".chain a >> nth=0")
    tab.ready()
    assert "Entry" in tab.says(".evidence header")


def test_sources_say_what_is_recorded_and_how_far(open_tab: Opener) -> None:
    tab = open_tab("/sources")
    streams = tab.says(".streams")

    assert "v1/nodes" in streams
    assert "21 Nov 2026, 11:27" in streams
    assert "No gaps" in tab.says(".sources .complete")
    assert "the audit log is not recorded" in tab.says(".sources .figures")


def test_sources_show_gaps_with_their_reasons_and_what_they_hide(
    open_tab: Opener,
) -> None:
    tab = open_tab("/sources?log=4")
    rows = tab.page.locator("table.gaps tbody tr")
    expect(rows).to_have_count(1)
    rows.locator("summary").click()
    outage = tab.says("table.gaps")

    assert "v1/" in outage
    assert "Proved" in outage
    assert rows.locator("li").count() > 1
