"""Entries: the immutable lines of the log, and what changed in them."""

import orjson
import strawberry

from api.resolvers.types.coverage import Coverage
from api.resolvers.types.describing import described
from api.resolvers.types.pages import PageInfo
from api.resolvers.types.publishing import publish
from api.resolvers.types.scalars import Json
from api.resolvers.types.words import SourceName
from recorder.answers.entry import Opened
from recorder.answers.lines import says
from recorder.facts.classify.managers import FieldManager
from recorder.model.author import Author
from recorder.model.entry import Entry
from recorder.model.reference import ObjectIdentity


class _Entry:
    """Fields that GraphQL adds to an entry."""

    source: SourceName

    @strawberry.field
    @staticmethod
    def name(line: strawberry.Parent[Entry]) -> strawberry.ID:
        """`LOG/POSITION`."""
        return strawberry.ID(str(line.entry))

    @strawberry.field
    @staticmethod
    def log(line: strawberry.Parent[Entry]) -> strawberry.ID:
        return strawberry.ID(str(line.entry.log))

    @strawberry.field
    @staticmethod
    def position(line: strawberry.Parent[Entry]) -> str:
        """Its place in the log; a whole number."""
        return str(line.entry.position)

    @strawberry.field
    @staticmethod
    def object(line: strawberry.Parent[Entry]) -> ObjectIdentity | None:
        """The object; for a Kubernetes Event, the object it is about."""
        return line.identity

    @strawberry.field
    @staticmethod
    def says(line: strawberry.Parent[Entry]) -> str:
        """A short description, if available."""
        return says(line)


publish(
    Entry,
    adds=_Entry,
    without=("entry", "identity", "raw", "epoch", "words"),
    order=(
        "name",
        "log",
        "position",
        "source",
        "resource",
        "operation",
        "object",
        "resource_version",
    ),
)


publish(Author)
publish(FieldManager, name="Writer")


@described
class EntryEdge:
    """An entry and its place."""

    cursor: str
    """Opaque cursor, valid for this log or this fleet only."""

    node: Entry

    cluster: str
    """Where it was recorded."""


@described
class EntryConnection:
    """Entries in log order, oldest first."""

    edges: list[EntryEdge]

    nodes: list[Entry]

    page_info: PageInfo

    coverage: Coverage


class _Opened:
    """What GraphQL shows of the document of an entry."""

    @strawberry.field
    @staticmethod
    def raw(opened: strawberry.Parent[Opened]) -> str:
        """The document as it was recorded, byte for byte after redaction. What
        is not UTF-8 in it is shown as U+FFFD."""  # noqa: D205, D209 - one text
        return opened.entry.raw.decode(errors="replace")

    @strawberry.field
    @staticmethod
    def document(opened: strawberry.Parent[Opened]) -> Json | None:
        """The document as JSON; null if it is not JSON."""
        try:
            return Json(orjson.loads(opened.entry.raw))
        except orjson.JSONDecodeError:
            return None


publish(
    Opened,
    name="EntryDetail",
    adds=_Opened,
    order=("raw", "document", "facts"),
)
