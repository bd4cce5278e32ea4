"""Who asks, and who may."""

from dataclasses import dataclass

__all__ = ["Principal"]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, as far as it was proved."""

    name: str
    """Of a token; ``local`` for whoever reaches the loopback address."""
