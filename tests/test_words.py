"""Which words code and documentation do without, room by room.

Names, comments, docstrings and messages are searched, and documents. A room
that is not in `LEFT` has none of the words. Those in `LEFT` have at most as
many as it allows, and the number may only shrink: lower it when you remove
some. The words to use instead are in `docs/vocabulary.md`.
"""

import re
from collections import Counter
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
    r"|would_tell"  # a field of JSON
    r"|else \"somebody\""  # in sentences of verdicts, which are in digests
    r"|\bsomebody with \{actor",  # in the digests of posted messages
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

LEFT = {
    "tests/explain": 1,
}
"""How often each room still has one of the words."""


def texts() -> Iterator[tuple[str, Path]]:
    """Yield each file that people read with the room that it is in."""
    for path in sorted(ROOT.glob("*.md")):
        yield path.name, path
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.*")):
            parts = path.relative_to(ROOT).parts
            if path.suffix not in READ or {"golden", "build"} & {*parts}:
                continue
            is_split = folder in {"recorder", "tests"} and len(parts) > 2
            yield "/".join(parts[: 1 + is_split]), path


def test_a_room_has_none_of_the_words_or_fewer_than_before() -> None:
    found = Counter[str]()
    places = dict[str, list[str]]()
    for room, path in texts():
        name = str(path.relative_to(ROOT))
        if name in EXCEPT:
            continue
        for hit in FORBIDDEN.finditer(KEPT.sub("", path.read_text())):
            found[room] += 1
            places.setdefault(room, []).append(f"{name}: {hit.group()}")

    grown = {
        room: places[room]
        for room, count in found.items()
        if count > LEFT.get(room, 0)
    }
    assert not grown
