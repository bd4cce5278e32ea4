"""The blind sets: where each keeps its truths, stories and tapes."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.corpus.blind.truth import Truth

__all__ = ["SETS", "BlindSet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindSet:
    """A package beside this one, with its truths, stories and tapes."""

    name: str
    stories: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """The folder of the tapes."""
        return Path(__file__).parent.with_name(self.name)

    def truths(self) -> Mapping[str, Truth]:
        """Return the truths, by the name of their incident."""
        package = importlib.import_module(f"tests.corpus.{self.name}.truths")
        truths: Mapping[str, Truth] = package.TRUTHS
        return truths

    def register(self) -> None:
        """Import the stories, which register themselves."""
        for module in self.stories:
            importlib.import_module(
                f"tests.corpus.{self.name}.stories.{module}"
            )


SETS = (
    BlindSet(
        name="blind",
        stories=("programs", "mechanisms", "persons", "nearby"),
    ),
    BlindSet(name="blind2", stories=("controllers", "beside", "nodes")),
    BlindSet(name="blind3", stories=("nodes", "pods")),
    BlindSet(name="blind4", stories=("ordered", "alone", "pods")),
    BlindSet(name="blind5", stories=("ordered", "near", "quiet")),
    BlindSet(name="blind6", stories=("ordered", "near", "quiet")),
    BlindSet(name="blind7", stories=()),
    BlindSet(name="blind8", stories=()),
)
