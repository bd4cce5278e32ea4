"""Comparing resource versions, as far as the API allows it.

Versions of the same resource are decimal numbers that may be compared
(https://kep.k8s.io/5504); aggregated APIs may opt out, and versions of
different resources may come from different stores. Versions that are not
numbers can only be equal or not, and every comparison returns False.
"""

_DIGITS_MAX = 39
"""The longest version that conformance allows, 2^128 - 1; the bound keeps a
damaged response from becoming a number of megabytes."""


def is_lower(version: str, than: str) -> bool:
    """Return whether a version is certainly lower than another."""
    mine, other = _number(version), _number(than)
    return mine is not None and other is not None and mine < other


def reaches(version: str, goal: str) -> bool:
    """Return whether a version is certainly as high as the goal."""
    mine, other = _number(version), _number(goal)
    if mine is None or other is None:
        return version == goal
    return mine >= other


def predecessor(version: str) -> str | None:
    """Return the version before, of any resource; None if there is none."""
    number = _number(version)
    return str(number - 1) if number else None


def as_int64(version: str) -> int | None:
    """Return a version as a number, if it fits into 64 bits."""
    number = _number(version)
    return number if number is not None and number < 1 << 63 else None


def _number(version: str) -> int | None:
    if len(version) > _DIGITS_MAX or not version.isascii():
        return None
    return int(version) if version.isdecimal() else None
