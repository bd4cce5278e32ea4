"""What facts tell, as JSON that is stored."""

from collections.abc import Mapping
from typing import Any

import msgspec

from recorder.model.fact import DETAILS, Fact, FactKind
from recorder.model.facts import Detail

__all__ = ["detail_of", "told"]


def detail_of(kind: FactKind, stored: Mapping[str, Any]) -> Detail:
    """Read what a fact of a kind tells."""
    return msgspec.convert(stored, DETAILS[kind])


def told(fact: Fact) -> dict[str, Any]:
    """Return what a fact tells, as it is stored."""
    found: dict[str, Any] = msgspec.to_builtins(fact.detail)
    return found
