"""What deploy/Containerfile says of the image that it makes."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import orjson

__all__ = ["CONTAINERFILE", "Image", "instructions"]

CONTAINERFILE = Path(__file__).parents[2] / "deploy/Containerfile"


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield each instruction with its arguments, as one line."""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, arguments = line.strip().partition(" ")
            yield name, arguments.strip()


@dataclass(frozen=True, slots=True)
class Image:
    """How a container of the image starts, by default."""

    user: str
    environment: Mapping[str, str]
    entrypoint: list[str]
    command: list[str]

    @classmethod
    def read(cls, text: str | None = None) -> Self:
        """Read the last stage."""
        said = list(instructions(text or CONTAINERFILE.read_text()))
        last = max(n for n, (name, _) in enumerate(said) if name == "FROM")
        stage = said[last:]
        of = dict(stage)
        words = [
            word
            for each, arguments in stage
            if each == "ENV"
            for word in shlex.split(arguments)
        ]
        return cls(
            user=of["USER"],
            environment=dict(word.split("=", 1) for word in words),
            entrypoint=orjson.loads(of["ENTRYPOINT"]),
            command=orjson.loads(of["CMD"]),
        )
