"""Questions about places: which there were, and what happened at one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from recorder.answers.arguments import (
    NODES_AT,
    WINDOW,
    Argument,
    Option,
    read_place,
)
from recorder.model.place import Place
from recorder.model.window import Window

ANYTIME = Window()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacesQuestion:
    """Which places, and when; all by default."""

    names: Annotated[
        Sequence[Place],
        Argument(
            many=True,
            parse=read_place,
            option=Option(metavar="[KIND/NAME]...", names="places"),
            graphql="Places as `KIND/NAME`. Default: all.",
        ),
    ] = ()
    at: Annotated[datetime | None, NODES_AT] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceQuestion:
    """Which place, and when."""

    name: Annotated[
        Place,
        Argument(
            required=True,
            parse=read_place,
            graphql="The place as `KIND/NAME`, such as `switch/leaf-7`.",
        ),
    ]
    window: Annotated[Window, WINDOW] = ANYTIME
