"""Objects as people name them.

``node/gpu-002``, ``pod/train/llm-0`` or ``-n train pod/llm-0``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING

from recorder.model.errors import ConfigError

if TYPE_CHECKING:
    from recorder.answers.kinds import Kind

PARTS_CLUSTER = 2
PARTS_NAMESPACED = 3
NEAR_MAX = 3
MUCH_NEARER = 0.1
CLAIM_WORDS = frozenset(
    {"cloudevent", "cloudevents", "cloudevents.cloudevents.io"}
)
"""Claims are named by what they are about, as in ``node/gpu-002``."""

NODE_WORDS = frozenset({"node", "nodes", "no"})


class ObjectNameError(ConfigError):
    """The name of an object is malformed."""

    code = "question.object"


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of an object, as a user writes it."""

    word: str
    """The kind, in any form that kubectl accepts; empty for a bare name."""

    namespace: str | None
    name: str

    @classmethod
    def bare(cls, text: str, namespace: str | None = None) -> "Reference":
        """Parse what `parse` does, or a name without a kind.

        Raises:
            ConfigError: it has another form, or two namespaces.
        """
        if text and "/" not in text:
            return cls("", namespace, text)
        return cls.parse(text, namespace)

    @classmethod
    def parse(cls, text: str, namespace: str | None = None) -> "Reference":
        """Parse ``kind/name`` or ``kind/namespace/name``.

        The name of a claim has slashes of its own, and no namespace.

        Raises:
            ConfigError: it has another form, or two namespaces.
        """
        word, _, subject = text.partition("/")
        if word.lower() in CLAIM_WORDS and subject:
            return cls(word, "", subject)
        parts = text.split("/")
        if not all(parts) or len(parts) not in {
            PARTS_CLUSTER,
            PARTS_NAMESPACED,
        }:
            msg = (
                f'"{text}" does not name an object: write kind/name or'
                " kind/namespace/name, as in node/gpu-002 or pod/train/llm-0"
            )
            raise ObjectNameError(msg)
        if len(parts) == PARTS_CLUSTER:
            return cls(parts[0], namespace, parts[1])
        if namespace is not None and namespace != parts[1]:
            msg = f'"{text}" is not in namespace "{namespace}"'
            raise ObjectNameError(msg)
        return cls(parts[0], parts[1], parts[2])

    def __str__(self) -> str:
        """Return the written form."""
        return named(self.word, self.namespace or "", self.name)


def claim_about(subject: str) -> Reference:
    """Return the name of what was claimed of a subject."""
    return Reference("cloudevent", "", subject)


def named(kind: "Kind | str", namespace: str, name: str) -> str:
    """Return the name of an object in the form that `Reference` parses."""
    word = kind if isinstance(kind, str) else kind.kind.lower()
    return "/".join(part for part in (word, namespace, name) if part)


def node_name(text: str) -> str:
    """Return the name in ``node/NAME`` or ``NAME``.

    Raises:
        ConfigError: it names another kind.
    """
    if "/" not in text:
        return text
    named = Reference.parse(text)
    if named.word.lower() not in NODE_WORDS or named.namespace:
        msg = f'"{text}" is not a node: write node/NAME'
        raise ConfigError(msg, code="question.node")
    return named.name


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence with similar names, empty if none."""
    near = get_close_matches(name, known, n=NEAR_MAX, cutoff=0.6)
    if not near:
        return ""
    # Of many numbered names keep only those nearly as similar as the first.
    ratios = [SequenceMatcher(None, one, name).ratio() for one in near]
    *first, last = [
        f'"{one}"'
        for one, ratio in zip(near, ratios, strict=True)
        if ratio > ratios[0] - MUCH_NEARER
    ]
    named = f"{', '.join(first)} or {last}" if first else last
    return f"; did you mean {named}?"
