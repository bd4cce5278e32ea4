"""What coverage is judged by: what a log records about itself."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from msgspec import field

from recorder.facts.coverage.hole import Gap, Hole
from recorder.model.document import Document
from recorder.model.reference import EntryName
from recorder.model.window import Window

Reads = Callable[[str, str], bool]
"""Whether a question reads a source and a resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """One log of the database."""

    id: int
    kind: str
    """``live`` or ``tape``."""

    cluster_name: str
    cluster_uid: str
    kubernetes: str
    size: int
    recorded_at: datetime | None
    """When its newest entry was recorded."""

    holder: str | None
    """The process that writes it at the moment."""

    observed_at: datetime | None = None
    """When the last of its newest entries was observed."""

    pinned: bool = False
    """Whether it is read as it was when it ended at a position."""

    redaction_key_id: str | None = None
    """The key of the digests in it."""

    kept_since: datetime | None = None
    """When the first entry after dropped days was observed; None if none were
    dropped."""

    derivation: int | None = None
    """The derivation of its facts, if it has any."""

    built_to: int | None = None
    """Where its facts end; None if the writer adds those of every entry."""

    is_part: bool = False
    """Whether its reader may not see all of it, nor how large it is."""

    @property
    def named(self) -> str:
        """Its number and cluster, for a sentence."""
        return f'log {self.id} of "{self.cluster_name}"'

    @property
    def visible_size(self) -> int:
        """How large it was; zero if its reader may not know."""
        return 0 if self.is_part else self.size

    @property
    def facts_to(self) -> int:
        """The position up to which every entry has its facts."""
        if self.built_to is None:
            return self.size
        return min(self.size, self.built_to)

    @property
    def is_tape(self) -> bool:
        """Whether it was played from a tape and gets no more."""
        return self.kind == "tape"

    @property
    def is_over(self) -> bool:
        """Whether the record ends where it does, however late it is."""
        return self.is_tape or self.pinned


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What a log records about one source and resource."""

    source: str
    resource: str
    state: str
    resource_version: str | None = None
    began_at: datetime | None = None
    """When its first list was complete."""

    began_version: str | None = None
    """The version of that list."""

    vouched_until: datetime | None = None
    last_frame_at: datetime | None = None
    entries: int = 0
    gap: Gap | None = None
    """The gap that is open."""

    audited: str | None = None
    """What was counted of it while audit was read, as `Tally` parses it."""


@dataclass(frozen=True, slots=True)
class ClockJump:
    """The recorder's wall clock moved, forward when positive."""

    entry: EntryName
    at: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class FactsEnd:
    """Where the facts of a log end before its entries do."""

    entry: EntryName
    """The last that has its facts; of position 0 if none has."""

    at: datetime | None
    """When the first entry without facts was observed."""


class ArchivedSpan(Document, frozen=True, kw_only=True):
    """Days of a window that were read from the archive."""

    since: datetime = field(name="from")
    until: datetime = field(name="to")
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinned:
    """What was removed from a day before the day, by one rule of retention."""

    day: str
    """The name of its partition."""

    since: datetime
    until: datetime
    """When the day was observed."""

    rule: str
    """As it is written: ``Event/Pulled``."""

    name: str
    """``Event``, ``Lease`` or ``audit``."""

    days: int
    """The age of everything that was removed."""

    facts: int
    """How many facts were removed with its entries."""

    archive: str | None = None
    """Where the whole day is archived, and why it cannot be read there."""


@dataclass(frozen=True, slots=True)
class Archived:
    """The part of a window in days that were dropped or thinned."""

    read: Sequence[ArchivedSpan] = ()
    holes: Sequence[Hole] = ()
    """Of days that are not archived, or whose archive cannot be read."""

    thinned: Sequence[Thinned] = ()
    """Of thinned days, oldest first, as far as they were not read from the
    archive."""

    begins: datetime | None = None
    """Where the days that were read begin, if a window without a beginning was
    requested and there are days before it."""


class Record(Protocol):
    """What one log vouched for at one moment."""

    @property
    def log(self) -> Log:
        """Which log, and how large it was."""

    @property
    def streams(self) -> Sequence[Stream]:
        """What was known of each source and resource."""

    async def facts_end(self) -> FactsEnd | None:
        """Return where facts end; None if every entry has its own."""

    def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        """Yield the closed gaps that end after a time, in log order."""

    def clock_jumps(self) -> AsyncIterator[ClockJump]:
        """Yield every jump of the recorder's clock, in log order."""

    async def archived(self, window: Window) -> "Archived":
        """Return which part of a window is not here, and what was read."""
