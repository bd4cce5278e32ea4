"""Links between pages lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import FENCE, documents

LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """Return the anchors that a page's headings make."""
    text = FENCE.sub("", path.read_text())
    words = (re.sub(r"[^\w\- ]", "", h.lower()) for h in HEADING.findall(text))
    return {heading.replace(" ", "-") for heading in words}


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_link_resolves(path: Path) -> None:
    for link in LINK.findall(FENCE.sub("", path.read_text())):
        if link.startswith("https://"):
            continue
        place, _, anchor = link.partition("#")
        target = (path.parent / place).resolve() if place else path
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_file_that_is_named_exists(path: Path) -> None:
    """Paths in code marks, from the root of the repository."""
    root = documents()[0].parent
    text = FENCE.sub("", path.read_text())
    roots = "recorder|tests|bench|deploy|migrations|docs|requirements"
    for name in re.findall(rf"`((?:{roots})/[\w./*-]*)`", text):
        assert list(root.glob(name.rstrip("/"))), name


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_test_that_is_named_exists(path: Path) -> None:
    root = documents()[0].parent
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", path.read_text())
    for file, name in named:
        assert f"def {name}(" in (root / file).read_text(), name
