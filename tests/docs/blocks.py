"""The fenced blocks of the documentation, and how each is run.

``console`` is a transcript: a line that begins with ``$`` is a command, a
backslash at its end goes on in the next line, and what follows is what it
prints. There ``...`` stands for anything, and times, numbers and drawn names
stand for others of their kind, so that the demo's tape may be recorded anew.
Without output only success is asked for. ``sh`` is a script that succeeds,
``toml`` a file of settings, ``yaml`` a manifest, ``json`` an answer,
``graphql`` a query that is answered, and ``text`` is for the eye; no other
language is used.

What never ends, needs a cluster, or is this very test run is bounded: it is
asked what it would do, or stopped after a while.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "Command", "blocks", "commands", "documents", "run"]

ROOT = Path(__file__).parents[2]
LANGUAGES = frozenset(
    {"console", "sh", "toml", "yaml", "json", "sql", "text", "graphql"}
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = 100
INTERRUPTED = 130

DRAWN = (
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UID"),
    (r"-[a-z0-9]{5}\b", "-NAME"),
    (r"\d+(,\d{3})*(\.\d+)?", "N"),
    (r" {2,}", "  "),
)

BOUNDED = (
    # The virtual environment is the one that runs this.
    (r"^make (run|demo)$", r"make -o .venv/.run \1"),
    (r"^make (.+)$", r"make -n \1"),
    (r"^(.*recorder log .*--follow.*)$", r"timeout -s INT 3 \1"),
    (r"^(.*recorder (record|up)\b.*)$", r"\1 --help"),
    (r"^(.*recorder serve\b.*)$", r"\1 --help"),
    (r"^(.*recorder tape record\b.*)$", r"\1 --help"),
    (r"^kubectl apply -f (\S+)$", r"test -s \1"),
    # No container engine here: tests/deploy builds and runs the image.
    (r"^podman build -f (\S+) .*$", r"test -s \1"),
    (r"^helm install (.*) --create-namespace(.*)$", r"helm template \1\2"),
    (r"^(pip wheel .*--wheel-dir) dist", r'\1 "$WORK/dist"'),
    (r"^(recorder postmortem .*> )(\S+)$", r'\1"$WORK/\2"'),
    (r"^(recorder tape cut) (\S+)(.*)$", r'\1 "$WORK/\2"\3'),
)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    path: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Command:
    """One command of a transcript, and what it prints."""

    words: str
    output: str

    def fits(self, printed: str) -> bool:
        """Return whether something printed is what the page shows."""
        parts = [re.escape(p) for p in shape(self.output).split("...")]
        found = re.fullmatch(".*?".join(parts), shape(printed), re.DOTALL)
        return found is not None


def shape(text: str) -> str:
    """Return a text without what another recording would have otherwise."""
    for pattern, instead in DRAWN:
        text = re.sub(pattern, instead, text)
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def documents() -> list[Path]:
    """Return every page, those of the root first."""
    pages = (
        "*.md",
        "docs/**/*.md",
        "deploy/*.md",
        "migrations/*.md",
        "bench/*.md",
    )
    return [path for pattern in pages for path in sorted(ROOT.glob(pattern))]


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a page."""
    text = path.read_text()
    return [
        Block(path, text.count("\n", 0, found.start()) + 1, *found.groups())
        for found in FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a block."""
    if block.language == "sh":
        yield Command(f"set -e\n{block.text}", "")
        return
    joined = block.text.replace("\\\n", "")
    for part in re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]:
        words, _, output = part.partition("\n")
        yield Command(words, output.rstrip("\n"))


def run(command: Command, environment: Mapping[str, str]) -> None:
    """Run a command as a reader would; see that it does what is shown."""
    words = command.words
    for pattern, bounded in BOUNDED:
        if re.match(pattern, words):
            words = re.sub(pattern, bounded, words)
            break
    done = subprocess.run(
        ["bash", "-uc", words],
        cwd=ROOT,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    stopped = words.startswith("timeout") and done.returncode in {
        124,
        INTERRUPTED,
    }
    assert done.returncode == 0 or stopped, f"$ {words}\n{done.stdout}"
    if command.output:
        assert command.fits(done.stdout), f"$ {words}\n{done.stdout}"
