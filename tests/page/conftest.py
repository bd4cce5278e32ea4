"""The page in a real browser, before a real server with real recordings.

Log 1 is of a node that crashes without a word, 2 to 4 are incidents of the
corpus, 5 is the demo's, in 6 one job preempts another, and 7 was imported from
what was left of 1.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    expect,
    sync_playwright,
)

from recorder.sources.tape import demo
from tests.corpus.logs import play_in_turn, tape_of
from tests.dumps.saved import as_listed, imported, saved
from tests.page.tab import Tab
from tests.support.axe import axe
from tests.support.chromium import ARGUMENTS, chromium
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer

CRASH = Path(__file__).parents[1] / "support/crash.tape.jsonl.zst"
"""A training Job on three nodes; one crashes without a word."""

LOGS = {
    "crash": CRASH,
    "deadlock": tape_of("kernel-deadlock"),
    "rack": tape_of("rack-loss-jobset"),
    "gap": tape_of("crash-in-gap"),
    "demo": Path(demo.__file__).with_name("demo.tape.jsonl.zst"),
    "preemption": tape_of("kueue-preemption"),
}
DUMP = "saved"
LINKS = (
    "Grafana=https://grafana.invalid/d/node?var-node={node}&from={from_ms}",
    "Runbook=https://wiki.invalid/runbooks/{cause}",
    "Namespace=https://grafana.invalid/d/namespace?var={namespace}",
)
ADDRESS = re.compile(r"http://\S+")
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
"""Of tests that failed."""

FAILED = pytest.StashKey[bool]()

PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)

Opener = Callable[..., Tab]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="session")
def page_database(
    embedded_server: DatabaseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        await play_in_turn(writer, LOGS)
        folder = tmp_path_factory.mktemp("saved")
        dump = folder / "all.json"
        left = saved(CRASH).objects.values()
        dump.write_text(as_listed([one for some in left for one in some]))
        await imported(writer, dump, folder, name=DUMP)

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.fixture(scope="session")
def served(page_database: Database) -> Iterator[str]:
    """The address of `recorder serve`."""
    with serving(page_database) as address:
        yield address


@contextmanager
def serving(database: Database) -> Iterator[str]:
    """Run `recorder serve`, and yield its address."""
    with served_by(database) as (_, address):
        yield address


@contextmanager
def served_by(
    database: Database,
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `recorder serve`, and yield its process and its address."""
    with served_with(RECORDER_DATABASE_URL=database.dsn("reader")) as found:
        yield found


@contextmanager
def served_with(
    **settings: str,
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `recorder serve`, and yield its process and its address."""
    environment = {
        **os.environ,
        **settings,
        "RECORDER_SERVE_LISTEN": "127.0.0.1:0",
        "RECORDER_LINKS": ",".join(LINKS),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "recorder", "serve"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout is not None
        said = ""
        try:
            for line in server.stdout:
                said += line
                if found := ADDRESS.search(line):
                    yield server, found[0].rstrip("/")
                    break
            else:
                pytest.fail(f"recorder serve ended: {said}")
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def browser(served: str) -> Iterator[Browser]:
    """Chromium; begun after the server, because its loop takes the thread."""
    del served
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=ARGUMENTS
        )
        yield browser
        browser.close()


@pytest.fixture
def open_tab(
    browser: Browser, served: str, request: pytest.FixtureRequest
) -> Iterator[Opener]:
    """Opens the page; checks afterwards that it had no errors."""
    contexts: list[BrowserContext] = []
    tabs: list[Tab] = []

    def opened(path: str = "/") -> Tab:
        context = browser.new_context(
            base_url=served,
            color_scheme="light",
            viewport={"width": 1440, "height": 900},
            timezone_id="Asia/Kolkata",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        tab = Tab(context.new_page())
        tabs.append(tab)
        tab.open(path)
        return tab

    yield opened
    if FAILED in request.node.stash or any(tab.complaints for tab in tabs):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        for number, tab in enumerate(tabs):
            name = re.sub(r"\W+", "-", request.node.name).strip("-")
            tab.page.screenshot(path=SCREENSHOTS / f"{name}-{number}.png")
    for context in contexts:
        context.close()
    for tab in tabs:
        assert tab.complaints == []


@pytest.fixture
def page(open_tab: Opener) -> Page:
    """The fleet of the crash."""
    return open_tab().page


@pytest.fixture(scope="session")
def axe_script() -> str:
    return axe()
