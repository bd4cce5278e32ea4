"""The page while it loads, when it fails, and the age of its answers."""

import re

from playwright.sync_api import Route, expect

from tests.page.conftest import Opener

GRAPHQL = "**/graphql"


def test_the_frame_is_there_before_the_first_answer(open_tab: Opener) -> None:
    tab = open_tab()
    waiting: list[Route] = []
    is_held = True

    def keep(route: Route) -> None:
        if is_held:
            waiting.append(route)
        else:
            route.continue_()

    tab.page.route(GRAPHQL, keep)
    tab.page.goto("/node/gpu-002")
    expect(tab.page.locator("h1")).to_contain_text("gpu-002")
    expect(tab.page.locator("#why .waiting")).to_be_visible()

    assert tab.page.get_attribute("body", "data-state") == "asking"
    is_held = False
    for route in waiting:
        route.continue_()
    tab.ready()
    expect(tab.page.locator(".verdict.open")).to_be_visible()


def test_an_error_keeps_the_last_answer_and_asks_again_by_itself(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?log=2")
    tab.page.route(GRAPHQL, lambda route: route.abort())
    tab.page.fill(".filter input", "proven")
    tab.page.wait_for_selector("body[data-state=failed]")

    assert "cannot reach the recorder" in tab.says(".fleet .trouble")
    assert "Showing data from" in tab.says(".fleet .trouble")
    assert tab.page.locator(".old .incident").count() == 1
    tab.page.unroute(GRAPHQL)
    tab.ready()
    expect(tab.page.locator(".trouble")).to_have_count(0)
    assert tab.page.locator(".incident").count() == 1
    tab.complaints.clear()


def test_it_retries_at_once_on_request(open_tab: Opener) -> None:
    tab = open_tab("/sources")
    tab.page.route(GRAPHQL, lambda route: route.abort())
    tab.page.click("nav >> text=Fleet")
    tab.page.wait_for_selector("body[data-state=failed]")
    tab.page.unroute(GRAPHQL)
    tab.page.click("text=Retry")
    tab.ready()

    assert tab.page.locator(".incident").count() == 1
    tab.complaints.clear()


def test_what_is_not_there_is_no_failure_and_loads_nothing(
    open_tab: Opener,
) -> None:
    tab = open_tab()
    tab.page.goto("/node/gpu-02")
    tab.page.wait_for_selector(".trouble")

    assert tab.says(".trouble").endswith(
        'has no node "gpu-02"; did you mean "gpu-002"?'
    )
    assert "Request failed" not in tab.says(".trouble")
    expect(tab.page.locator("text=Retry")).to_have_count(0)
    expect(tab.page.locator("text=Loading lanes")).to_have_count(0)


def test_who_has_no_token_is_asked_for_one(open_tab: Opener) -> None:
    tab = open_tab()
    denied = {
        "errors": [
            {
                "message": "present a token",
                "extensions": {"code": "access.denied"},
            }
        ]
    }

    def admit(route: Route) -> None:
        if route.request.headers.get("authorization") == "Bearer rec_right":
            route.continue_()
        else:
            route.fulfill(status=401, json=denied)

    tab.page.route(GRAPHQL, admit)
    tab.page.goto("/")
    tab.page.fill("form.token input", "rec_right")
    tab.page.click("form.token button")
    tab.ready()

    assert tab.page.locator(".incident").count() == 1
    assert "rec_right" not in tab.address
    tab.complaints.clear()


def test_a_token_of_the_link_leaves_the_address(open_tab: Opener) -> None:
    tab = open_tab("/#token=rec_given")
    asked = tab.page.evaluate("sessionStorage.getItem('recorder-token')")

    assert asked == "rec_given"
    assert "#" not in tab.page.url


def test_the_head_says_that_a_tape_is_one_and_until_when(
    open_tab: Opener,
) -> None:
    tab = open_tab()

    assert "tape until 21 Nov 2026" in tab.says(".recording")


def test_an_imported_log_says_what_it_is_wherever_it_is_asked(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?log=7")

    assert "imported dump of 21 Nov 2026" in tab.says(".recording")
    tab.page.click(".incident a")
    tab.ready()
    assert "log=7" in tab.address
    assert "gpu-002 rebooted" in tab.says(".verdict .sentence")
    tab.open("/sources?log=7")
    assert "one state, and Events" in tab.says("p.sentence")
    assert "objects are known only as of" in tab.says("ul.quiet")


def test_nothing_is_fetched_from_elsewhere(
    open_tab: Opener, served: str
) -> None:
    tab = open_tab("/sources")
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    tab.open("/node/gpu-002?entry=1/72")

    assert asked
    assert all(url.startswith(served) for url in asked)


def test_the_server_allows_scripts_and_styles_of_its_own_only(
    open_tab: Opener,
) -> None:
    tab = open_tab()
    response = tab.page.goto("/")
    assert response is not None
    policy = response.headers["content-security-policy"]

    assert re.match(r"default-src 'self';", policy)
    assert "unsafe" not in policy
