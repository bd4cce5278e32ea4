"""Scalars: times as people and dashboards write them, and plain JSON."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NewType

import strawberry
from msgspec import UNSET
from strawberry.types.scalar import ScalarDefinition

from recorder.model.moment import written
from recorder.model.window import TimeError, parse_time

Json = NewType("Json", object)
"""Any JSON value."""

MILLISECONDS_MAX = 253_402_300_800_000
"""The year 10000, after the last year of Python."""


def _parse(value: Any) -> datetime:
    """Parse a time; an age is counted back from now.

    Raises:
        TimeError: it is not a time.
    """
    now = datetime.now(UTC)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        msg = f"cannot use {value!r} as a time: it is neither text nor number"
        raise TimeError(msg)
    if isinstance(value, str) and not value.isdecimal():
        if value == "now":
            return now
        return parse_time(value.removeprefix("now"), now=now, name="time")
    milliseconds = int(value) if len(str(value)) <= 15 else -1  # noqa: PLR2004
    if not 0 <= milliseconds < MILLISECONDS_MAX:
        msg = f"cannot use {value} as a time: it is not in milliseconds"
        raise TimeError(msg)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def attribute(source: Any, name: str) -> Any:
    """Return the value of a field that has no resolver.

    An unset field, which JSON leaves out, is null.
    """
    value = getattr(source, name)
    return None if value is UNSET else value


SCALARS: Mapping[object, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="A time: RFC 3339 in UTC with microseconds. As input also"
        " an age (`90s`, `2h`, `3d`, `now-6h`), `now`, or milliseconds since"
        " 1970 as a number or text. A time without a zone is rejected.",
        serialize=written,
        parse_value=_parse,
    ),
    Json: strawberry.scalar(
        name="JSON",
        description="Any JSON value.",
        serialize=lambda value: value,
        parse_value=lambda value: value,
    ),
}
"""The scalars of Python types."""
