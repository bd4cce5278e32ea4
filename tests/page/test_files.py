"""The files of the page: small, without dependencies, in house style."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from api.http.site import FOLDER
from api.page.build import (
    ASSETS,
    MAIN,
    MODULES,
    STATIC,
    STYLE,
    STYLES,
    VENDOR,
    scripts,
    style,
)

FILE_LINES_MAX = 350
FUNCTION_LINES_MAX = 60
COLUMNS_MAX = 90
"""More than Python's, because templates are within functions."""

VAGUE = {"utils", "helpers", "common", "manager", "core", "base"}

MARKUP_FROM_DATA = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML"
    r"|document\.write|\beval\(|new Function"
)
"""What would make data of the cluster part of the page."""

ADDRESS = re.compile(r"https?://(?!www\.w3\.org/|recorder\.invalid)")
IMPORT = re.compile(
    r"(?:^(?:import|export) [^;]*? from |\bimport\()'([^']+)'",
    re.MULTILINE | re.DOTALL,
)
FUNCTION = re.compile(
    r"^(?P<indent> *)(?:export )?(?:default )?(?:async )?"
    r"(?:function \w+|(?:static |get |set )?#?\w+)\([^;]*?\) \{$",
    re.MULTILINE,
)


def test_what_is_served_is_made_of_what_is_written() -> None:
    made = scripts()
    for path, text in made.items():
        assert path.read_text() == text, "run: make page"
    assert set(ASSETS.glob("*.js")) == set(made), "no other is served"
    assert STYLE.read_text() == style(), "run: make page"


def test_what_is_not_ours_is_what_its_manifest_says() -> None:
    manifest = json.loads((VENDOR / "manifest.json").read_text())
    named = {"manifest.json"}
    for one in manifest:
        digest = hashlib.sha256((VENDOR / one["file"]).read_bytes())
        assert digest.hexdigest() == one["sha256"], one["file"]
        assert one["licence"] in {"MIT", "Apache-2.0"}
        named |= {one["file"], one["text"]} - {None}

    assert {path.name for path in VENDOR.iterdir()} == named


@pytest.mark.parametrize("path", [*MODULES, *STYLES], ids=str)
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    assert not ADDRESS.search(path.read_text())


def test_the_frame_runs_and_styles_nothing_by_itself() -> None:
    text = (STATIC / "index.html").read_text()

    assert not ADDRESS.search(text)
    assert not re.search(r"<style|\sstyle=|\son\w+=", text)
    for name in re.findall(r'(?:src|href)="/([^"]+)"', text):
        assert (STATIC / name).is_file(), name


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_data_never_becomes_markup(path: Path) -> None:
    assert not MARKUP_FROM_DATA.search(path.read_text())


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_says_what_it_is_for_and_fits_on_a_few_screens(
    path: Path,
) -> None:
    text = path.read_text()
    lines = text.splitlines()

    assert text.startswith("/**"), "a comment that says what it is for"
    assert len(lines) <= FILE_LINES_MAX
    assert path.stem not in VAGUE
    for number, line in enumerate(lines, 1):
        assert len(line) <= COLUMNS_MAX, f"{path.name}:{number}"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_function_fits_on_a_screen(path: Path) -> None:
    text = path.read_text()
    for found in FUNCTION.finditer(text):
        end = text.find(f"\n{found['indent']}}}", found.end())
        length = text.count("\n", found.start(), end) + 1

        assert length <= FUNCTION_LINES_MAX, found[0]


def test_every_module_is_reached_from_the_first() -> None:
    reached: set[Path] = set()
    waiting = [MAIN]
    while waiting:
        path = waiting.pop()
        if path in reached or VENDOR in path.parents:
            continue
        reached.add(path)
        for name in IMPORT.findall(path.read_text()):
            assert name.startswith("."), f"{path.name} imports {name}"
            waiting.append((path.parent / name).resolve())

    assert reached >= set(MODULES)


def test_what_is_served_by_default_is_what_was_built() -> None:
    assert (FOLDER / "index.html").is_file()
