"""The details of facts, as JSON that is stored."""

from collections.abc import Mapping
from typing import Any

import msgspec

from recorder.model.fact import DETAILS, Fact, FactKind
from recorder.model.facts import Detail

__all__ = ["detail_of", "stored_detail"]


def detail_of(kind: FactKind, stored: Mapping[str, Any]) -> Detail:
    """Read the detail of a fact of a kind."""
    return msgspec.convert(stored, DETAILS[kind])


def stored_detail(fact: Fact) -> dict[str, Any]:
    """Return the detail of a fact, as it is stored."""
    found: dict[str, Any] = msgspec.to_builtins(fact.detail)
    return found
