"""Every fenced block of the documentation does what the page says."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, nullcontext
from pathlib import Path

import pytest

from recorder.embedded.binaries import find_binaries
from recorder.model.settings import Settings
from recorder.notification.loading import read_rules
from tests.cluster.binaries import HELM, built
from tests.docs.blocks import (
    LANGUAGES,
    ROOT,
    Block,
    Command,
    blocks,
    commands,
    documents,
    run,
)
from tests.embedded.running import eventually, is_quiet
from tests.support.postgres import DatabaseServer, fresh_database

README = ROOT / "README.md"
API = ROOT / "docs/api.md"
EVERY = [block for path in documents() for block in blocks(path)]
RUN = [block for block in EVERY if block.language in {"console", "sh"}]
PAGES = sorted({block.path for block in RUN})
NOTIFICATIONS = ROOT / "docs/notifications.md"

Environment = Mapping[str, str]


@pytest.fixture
def admin_url(embedded_server: DatabaseServer) -> Iterator[str]:
    """A database that is not prepared."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        database = runner.run(
            stack.enter_async_context(fresh_database(embedded_server))
        )
        yield database.superuser_dsn()
        runner.run(stack.aclose())


@pytest.fixture
def reader(admin_url: str) -> Iterator[Environment]:
    """What a reader has: the repository, a shell, and no cluster."""
    with a_home() as home:
        yield {**home, "ADMIN_URL": admin_url}


@contextmanager
def a_home() -> Iterator[Environment]:
    """Where a reader's commands find and leave everything."""
    with tempfile.TemporaryDirectory(
        prefix="recorder-docs-", ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        folder.chmod(0o711)  # PostgreSQL's own user passes through
        folders = [Path(sys.executable).parent, find_binaries().folder]
        (folder / "bin").mkdir()
        (folder / "bin/helm").symlink_to(built(HELM))
        folders.append(folder / "bin")
        yield {
            "PATH": ":".join([*map(str, folders), os.environ["PATH"]]),
            "HOME": str(folder / "home"),
            "KUBECONFIG": str(folder / "no-kubeconfig"),
            "RECORDER_DATA_DIR": str(folder / "data"),
            "RECORDER_HEALTH_LISTEN": "127.0.0.1:0",
            "RECORDER_SERVE_LISTEN": "127.0.0.1:0",
            "WORK": str(folder),
        }


@pytest.fixture(scope="module")
def with_the_demo() -> Iterator[Path]:
    """A data folder after `recorder demo`, whose server has stopped."""
    with a_home() as home:
        run(Command("recorder demo", ""), home)
        data = Path(home["RECORDER_DATA_DIR"])
        eventually(lambda: is_quiet(data))
        yield data


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_what_a_page_shows_happens(
    path: Path, reader: Environment, with_the_demo: Path
) -> None:
    """In the order of the page; those but the README have seen the demo."""
    if path != README:
        data = reader["RECORDER_DATA_DIR"]
        subprocess.run(["cp", "-a", with_the_demo, data], check=True)
    with serving(reader) if path == API else nullcontext():
        for block in blocks(path):
            if block in RUN:
                for command in commands(block):
                    run(command, reader)


@pytest.fixture(scope="module")
def asked(with_the_demo: Path) -> Iterator[str]:
    """The address of a server with the demo."""
    with a_home() as home:
        data = home["RECORDER_DATA_DIR"]
        subprocess.run(["cp", "-a", with_the_demo, data], check=True)
        with serving(home) as address:
            yield address


@pytest.mark.parametrize(
    "block", [b for b in EVERY if b.language == "graphql"], ids=str
)
def test_a_query_of_the_cookbook_is_answered(block: Block, asked: str) -> None:
    request = urllib.request.Request(
        f"{asked}graphql",
        json.dumps({"query": block.text}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    assert "errors" not in answer, answer
    assert all(value for value in answer["data"].values())


def test_the_cookbook_has_ten_queries() -> None:
    queries = [b for b in EVERY if b.language == "graphql"]
    assert len(queries) == 10


@contextmanager
def serving(reader: Environment) -> Iterator[str]:
    """The API of the reader's log, as the page begins with it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recorder", "serve"],
        env=reader,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        assert address.startswith("http://")
        yield address
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.parametrize("block", EVERY, ids=str)
def test_a_block_is_of_a_known_kind(block: Block) -> None:
    assert block.language in LANGUAGES
    if block.language == "console":
        assert block.text.startswith("$ ")


@pytest.mark.parametrize(
    "block", [b for b in EVERY if b.language == "toml"], ids=str
)
def test_shown_settings_are_settings(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "recorder.toml"
    file.write_text(block.text)

    Settings.load(environ={}, file=file)


def test_shown_rules_of_notifications_are_rules() -> None:
    shown = [b for b in EVERY if b.path == NOTIFICATIONS]

    [rules] = [b for b in shown if b.language == "yaml"]
    names = [r.name for r in read_rules(rules.text, name="shown").rules]
    checked = next(b for b in shown if b.text.startswith("$ recorder notify"))
    assert names == [line.split()[0] for line in checked.text.splitlines()[2:]]


def test_shown_answers_are_json() -> None:
    for block in EVERY:
        if block.language == "json":
            json.loads(block.text)


def test_the_readme_can_be_read_in_one_sitting() -> None:
    assert len(README.read_text().splitlines()) <= 150


def test_every_block_of_the_readme_is_run() -> None:
    kinds = [block.language for block in blocks(README)]

    assert set(kinds) <= {"console", "sh"}
