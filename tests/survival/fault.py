"""What a fault is: a name, what it touches, and what it may cost."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from tests.survival.site import Site

__all__ = ["DAY", "Fault", "Strike"]

DAY = timedelta(days=1)


@dataclass(slots=True)
class Strike:
    """One fault at work, and what it says of itself."""

    site: Site
    random: Random
    epochs: int = 0
    """How often the history was rewound."""

    reasons: set[str] = field(default_factory=set)
    """Why gaps may be opened, beside an expiry that the server confirms."""

    blind_at: datetime | None = None
    """After which no proof can have been made of what is lost."""

    dim: bool = False
    """Whether a proof may be dated later than what it proves: somebody was
    frozen or slow between the server and the recorder's clock, or the clock
    itself was moved."""

    detail: str = ""

    def blind(self) -> None:
        """Take note that the server can prove nothing from now on."""
        self.blind_at = self.site.clock.now()

    def note(self, detail: str) -> None:
        """Say how it went about it."""
        self.detail = f"{self.detail} {detail}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way of breaking something and of mending it again."""

    name: str
    strike: Callable[[Strike], Coroutine[Any, Any, None]]
    parts: frozenset[str]
    """What it breaks; another that breaks something else may go with it."""

    shared: bool | None = None
    """The database that it needs; None if any will do."""
