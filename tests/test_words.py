"""Which words code and documentation do without.

Names, comments, docstrings and messages are searched, and documents. The words
to use instead are in `docs/vocabulary.md`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

FORBIDDEN = re.compile(
    r"(?<![a-z])(?:tells?|(?<![./])telling(?!\.py)|(?:un)?told"  # show
    r"|(?:any|every|no|some)body|whoever"  # name the person or the component
    r"|(?<!-)strays?"  # leftover
    r"|went[_ ]early"  # ended before
    r"|st(?:ands?(?![ _](?:by|for)\b)|ood)"  # is, is written
    r")(?![a-z])"
    r"|\b(?:of which|what is so|gives? of|refused in words|made anew)\b"
    r"|\b_?look(?=\()|\bclass Made\b",
    re.IGNORECASE,
)

KEPT = re.compile(
    r"nobody received audit records|of-anybody"  # in logs and tapes
    r"|(?:file|said)\.tell\(\)|::test_\w+"  # of Python; names of tests
    r"|[\"`]nobody[\"`]"  # of Unix
    r"|def \w+\(\) -> Scene"  # incidents, whose names are in hashes
    r"|def \w+\(stage: Stage\) -> None:\n    \"{3}[^\"]+"  # in truths of tapes
    r"|nobody asked for it on the tape|no record tells the two apart"
    r"|nobody reads it now|resources of which hardly"  # in the schema
    r"|would_tell",  # a field of JSON
    re.IGNORECASE,
)
"""Text that must not change."""

READ = {".py", ".md", ".js", ".mjs", ".css", ".html", ".yaml", ".tpl", ".sql"}
FOLDERS = ("api", "bench", "deploy", "docs", "recorder", "tests")
"""Without the migrations, whose text is in databases and does not change."""

EXCEPT = {
    "docs/vocabulary.md": "names the phrases to avoid",
    "tests/test_words.py": "has the list",
}
"""Files that need the words, each with the reason."""


def texts() -> Iterator[Path]:
    """Yield each file that people read."""
    yield from sorted(ROOT.glob("*.md"))
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.*")):
            parts = path.relative_to(ROOT).parts
            if path.suffix in READ and not {"golden", "build"} & {*parts}:
                yield path


def test_code_and_documentation_do_without_the_words() -> None:
    found = []
    for path in texts():
        name = str(path.relative_to(ROOT))
        if name not in EXCEPT:
            text = KEPT.sub("", path.read_text())
            found += [f"{name}: {hit[0]}" for hit in FORBIDDEN.finditer(text)]

    assert not found


ONE_OF_MANY = re.compile(
    r"(?<![\d.,:/#-])\b1 (?!(?:is|was|has)\b)[A-Za-z-]+[^s\W\d]s\b"
)


def test_what_commands_print_counts_one_in_the_singular() -> None:
    found = [
        f"{path.name}: {match[0]}"
        for path in sorted((ROOT / "tests/cli/golden").rglob("*.*"))
        if path.suffix in {".txt", ".md"}
        for match in ONE_OF_MANY.finditer(path.read_text(encoding="utf-8"))
    ]

    assert found == []
