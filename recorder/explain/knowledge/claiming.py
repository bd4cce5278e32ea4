"""Claims by their types: whether one fits, what it says, and when that was.

Nothing here fails for what a sender wrote: a claim that does not fit its type
means nothing.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from recorder.explain.knowledge.rules import ClaimType
from recorder.model.facts import Claimed

VALUES_MAX: Final = 64
"""Values of one member in nested lists that are compared."""

DIGITS_MAX: Final = 12
"""Of seconds since 1970."""

FITTING_MAX: Final = 4096
"""Results that are remembered: most claims of a type say one of few things."""


def wrong_schema(schema: Mapping[str, object]) -> str | None:
    """Return why a mapping is no JSON Schema; None if it is one."""
    if not schema:
        return None
    from jsonschema import (  # noqa: PLC0415 - heavy
        Draft202012Validator,
        SchemaError,
    )

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as exc:
        return f"{exc.message} (at {exc.json_path})"
    return None


def misfit(kind: ClaimType, data: object) -> str | None:
    """Return what is wrong with data by the schema of its type.

    The member is named; None if nothing is, or there is no data.
    """
    if not kind.data or data is None:
        return None
    try:
        return _misfit(
            msgspec.json.encode(kind.data), msgspec.json.encode(data)
        )
    except (ValueError, RecursionError, OverflowError) as exc:
        return str(exc)


@lru_cache(FITTING_MAX)
def _misfit(schema: bytes, data: bytes) -> str | None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - heavy
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - heavy

    validator = Draft202012Validator(msgspec.json.decode(schema))
    error = best_match(validator.iter_errors(msgspec.json.decode(data)))
    if error is None:
        return None
    # Not what it holds instead: that may be a secret.
    where = error.json_path.replace("$", "data", 1)
    wanted = msgspec.json.encode({error.validator: error.validator_value})
    return f'"{where[:128]}" does not fit {wanted.decode()[:256]}'


def member(data: object, path: str) -> list[str]:
    """Return the values of a member, as text; several from lists."""
    found: list[str] = []
    for value in _values(data, tuple(path.split("."))):
        if len(found) == VALUES_MAX:
            break
        found.append(
            value
            if isinstance(value, str)
            else msgspec.json.encode(value).decode()
        )
    return found


def _values(data: object, steps: tuple[str, ...]) -> Iterator[object]:
    if isinstance(data, list):
        for item in data:
            yield from _values(item, steps)
    elif not steps:
        if data is not None and not isinstance(data, dict):
            yield data
    elif isinstance(data, dict):
        # A name may have dots in it, such as that of a label.
        for end in range(1, len(steps) + 1):
            name = ".".join(steps[:end])
            if name in data:
                yield from _values(data[name], steps[end:])


@lru_cache
def zone_of(name: str) -> tzinfo | None:
    """Return a time zone by its name; None if there is no such zone."""
    if name == "UTC":
        return UTC  # also on a system without a database of zones
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None


def time_of(kind: ClaimType, claim: Claimed) -> datetime | None:
    """Return when something happened by the data of a claim, if it says so."""
    if kind.time is None:
        return None
    text = next(iter(member(claim.data, kind.time.member)), "")
    try:
        if text.replace(".", "", 1).isdecimal() and len(text) <= DIGITS_MAX:
            return datetime.fromtimestamp(float(text), UTC)
        at = datetime.fromisoformat(text)
        if at.tzinfo is None:
            at = at.replace(tzinfo=zone_of(kind.time.zone))
        return at.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
