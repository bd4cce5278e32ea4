"""Converting the text of a setting to its value.

Each converter raises `ValueError` with the fault, for a caller who knows the
name of the setting and where it was set.
"""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_duration(text: str) -> timedelta:
    """Parse ``90s``, ``2h``, ``3d`` or ``1h30m``.

    Raises:
        ValueError: the text has another form.
    """
    if not re.fullmatch(f"(?:{DURATION.pattern})+", text):
        msg = f'"{text}" is not a duration: write 90s, 15m, 2h or 3d'
        raise ValueError(msg)
    return timedelta(
        seconds=sum(
            float(number) * UNITS[unit]
            for number, unit in DURATION.findall(text)
        )
    )


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in {"true", "1", "yes", "on"}:
        return True
    if str(value).lower() in {"false", "0", "no", "off"}:
        return False
    msg = f'"{value}" is neither true nor false'
    raise ValueError(msg)


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, (list, tuple)) and all(
        isinstance(part, str) for part in value
    ):
        return tuple(value)
    msg = f'"{value}" is not a list of strings'
    raise ValueError(msg)


def text(value: Any) -> str:
    """Return any text."""
    if not isinstance(value, str):
        msg = f'"{value}" is not a string'
        raise ValueError(msg)  # noqa: TRY004 - one kind of error for all
    return value


def _patterns(value: Any) -> tuple[str, ...]:
    patterns = _texts(value)
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as exc:
            msg = f'"{pattern}" is not a regular expression: {exc}'
            raise ValueError(msg) from exc
    return patterns


LINK_FIELDS = frozenset(
    {
        *("cluster", "log", "node", "kind", "namespace", "name", "cause"),
        *("verdict", "sentence", "entry", "from", "to", "from_ms", "to_ms"),
    }
)
"""The names that the page can fill in."""


def _links(value: Any) -> tuple[str, ...]:
    links = _texts(value)
    for link in links:
        name, _, url = link.partition("=")
        if not name.strip() or not re.match(r"https?://\S+$", url.strip()):
            msg = f'"{link}" is not NAME=URL, with http:// or https://'
            raise ValueError(msg)
        unknown = {*re.findall(r"\{([^{}]*)\}", url)} - LINK_FIELDS
        if unknown:
            fields = ", ".join(sorted(LINK_FIELDS))
            msg = f'"{link}" has no value for {{{min(unknown)}}}: use {fields}'
            raise ValueError(msg)
    return links


def _percent(value: Any) -> float:
    number = float(value)
    if not 0 <= number < 100:  # noqa: PLR2004 - percent
        msg = f'"{value}" is not a percentage below 100'
        raise ValueError(msg)
    return number


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    return parse_duration(str(value))


def _path(value: Any) -> Path:
    return Path(str(value)).expanduser()


OF_ITS_OWN: Mapping[str, Callable[[Any], Any]] = {
    "links": _links,
    "redact_names": _patterns,
}
"""The converters of settings whose type does not say their form."""

BY_TYPE: Mapping[Any, Callable[[Any], Any]] = {
    bool: _boolean,
    float: _percent,
    Path: _path,
    Path | None: _path,
    timedelta: _duration,
    tuple[str, ...]: _texts,
}


def converter_of(name: str, kind: Any) -> Callable[[Any], Any]:
    """Return what converts the text of a setting to its type."""
    return OF_ITS_OWN.get(name) or BY_TYPE.get(kind, text)
