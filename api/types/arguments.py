"""Arguments that many fields share, described once."""

from datetime import datetime
from typing import Annotated

import strawberry

__all__ = [
    "After",
    "At",
    "Before",
    "ClusterArgument",
    "First",
    "Last",
    "LogArgument",
    "OfNode",
    "OfObject",
    "Since",
    "Until",
]

Since = Annotated[
    datetime | None,
    strawberry.argument(description="From this time on, inclusive."),
]
Until = Annotated[
    datetime | None,
    strawberry.argument(
        description="Before this time. Without one the window ends where the"
        " log stops vouching for itself."
    ),
]
At = Annotated[
    datetime | None,
    strawberry.argument(description="As of this time; the newest without."),
]
First = Annotated[
    int | None,
    strawberry.argument(description="The oldest so many, 500 at most."),
]
After = Annotated[
    str | None,
    strawberry.argument(description="Behind this cursor."),
]
Last = Annotated[
    int | None,
    strawberry.argument(
        description="The newest so many, 500 at most. Without `first` and"
        " `last` the newest 100."
    ),
]
Before = Annotated[
    str | None,
    strawberry.argument(description="Before this cursor."),
]
OfNode = Annotated[
    str | None, strawberry.argument(description="Only of this node.")
]
OfObject = Annotated[
    str | None, strawberry.argument(description="Only of this object.")
]
ClusterArgument = Annotated[
    str | None,
    strawberry.argument(
        description="Name or UID of a cluster; live logs are found before"
        " tapes. Without it the only one, or that of the settings."
    ),
]
LogArgument = Annotated[
    strawberry.ID | None,
    strawberry.argument(description="Exactly this log, for example `1`."),
]
