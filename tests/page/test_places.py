"""Places: which there are, and what happened at one."""

from tests.page.conftest import Opener


def test_a_place_leads_to_what_happened_to_the_nodes_behind_it(
    open_tab: Opener,
) -> None:
    tab = open_tab("/places?log=3")
    tab.page.click("text=rack/rack-2")
    tab.ready()

    assert "/places/rack/rack-2" in tab.address
    assert "power" in tab.says(".happened")
    tab.page.locator(".places td a").first.click()
    tab.ready()
    assert "/node/gpu-" in tab.address
