"""Arguments that many fields share, described once."""

from typing import Annotated

import strawberry

First = Annotated[
    int | None,
    strawberry.argument(description="Return the oldest N, at most 500."),
]
After = Annotated[
    str | None,
    strawberry.argument(description="Return items after this cursor."),
]
Last = Annotated[
    int | None,
    strawberry.argument(
        description="Return the newest N, at most 500. Default without `first`"
        " and `last`: the newest 100."
    ),
]
Before = Annotated[
    str | None,
    strawberry.argument(description="Return items before this cursor."),
]
OfNode = Annotated[
    str | None, strawberry.argument(description="Only for this node.")
]
ClusterArgument = Annotated[
    str | None,
    strawberry.argument(
        description="Name or UID of a cluster; live logs are preferred over"
        " tapes. Default: the only one, or the one in the settings."
    ),
]
Clusters = Annotated[
    list[str] | None,
    strawberry.argument(
        description="Names or UIDs of several clusters, at most 50; `*` for"
        " every log. One that is away is a gap of the coverage."
    ),
]
LogArgument = Annotated[
    strawberry.ID | None,
    strawberry.argument(description="ID of a log, for example `1`."),
]
