"""Mappings of a site: events of bare objects in JSON, as a file describes.

A file in TOML has a table for each sender, whose name is the last part of the
path to which it posts. Values in braces are members of the object, with dots
for those within others.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any

import msgspec

from recorder.model.errors import ConfigError
from recorder.sources.claims.converters import (
    CONVERTERS,
    Converted,
    Converter,
    content_id,
    decoded,
    time_of,
    zone_of,
)
from recorder.sources.claims.envelope import EnvelopeError

NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")
MEMBER = re.compile(r"\{([^{}]+)\}")


class MappingError(ConfigError):
    """A mapping of events cannot be used."""

    code = "config.mapping"


class _Mapping(msgspec.Struct, forbid_unknown_fields=True):
    type: str
    subject: str
    time: str | None = None
    """The member with the time."""

    zone: str | None = None
    """Of times without one."""

    id: list[str] = []
    """Members that identify an event; by default, all of it does."""

    each: str | None = None
    """The member with a list of objects, each an event."""

    data: dict[str, Any] = {}
    """The data, with members in braces; by default, the object itself."""


def read_mappings(paths: Sequence[str]) -> Mapping[str, Converter]:
    """Return the converters that files describe, by name.

    Raises:
        MappingError: a file cannot be read, or one of its tables not be used.
    """
    found: dict[str, Converter] = {}
    for path in paths:
        try:
            with Path(path).open("rb") as stream:
                tables = tomllib.load(stream)
        except (OSError, ValueError) as exc:
            msg = f"cannot read the mappings of {path}: {exc}"
            raise MappingError(msg) from exc
        for name, table in tables.items():
            found[name] = _read(path, name, table)
            if name in CONVERTERS or NAME.fullmatch(name) is None:
                msg = (
                    f'cannot use the mapping "{name}" of {path}: choose'
                    ' another name, of a-z, 0-9, "." and "-"'
                )
                raise MappingError(msg)
    return found


def _read(path: str, name: str, table: object) -> Converter:
    try:
        mapping = msgspec.convert(table, _Mapping)
        zone = zone_of(mapping.zone)
    except (msgspec.ValidationError, EnvelopeError) as exc:
        msg = f'cannot use the mapping "{name}" of {path}: {exc}'
        raise MappingError(msg) from exc

    def convert(body: bytes, asked: tzinfo | None) -> Converted:
        said = decoded(body, dict[str, Any])
        items = said if mapping.each is None else _member(said, mapping.each)
        if not isinstance(items, list):
            items = [items]
        return Converted(
            [_event(mapping, item, asked or zone) for item in items]
        )

    return convert


def _event(
    mapping: _Mapping, said: Any, zone: tzinfo | None
) -> dict[str, Any]:
    data = {key: _filled(value, said) for key, value in mapping.data.items()}
    event = {
        "id": content_id([_member(said, name) for name in mapping.id] or said),
        "type": str(_filled(mapping.type, said)),
        "subject": str(_filled(mapping.subject, said)),
        "data": data or said,
    }
    if mapping.time is not None:
        at = time_of(_member(said, mapping.time), zone)
        if at is None:
            msg = f'"{mapping.time}" is not a time with a zone'
            raise EnvelopeError(msg)
        event["time"] = at
    return event


def _filled(value: object, said: Any) -> object:
    """Return a value with members of an object in the place of their names.

    A single member keeps its type.
    """
    if not isinstance(value, str):
        return value
    whole = MEMBER.fullmatch(value)
    if whole is not None:
        return _member(said, whole[1])
    return MEMBER.sub(lambda found: str(_member(said, found[1])), value)


def _member(said: Any, name: str) -> Any:
    found = said
    for part in name.split("."):
        if not isinstance(found, dict) or part not in found:
            msg = f'"{name}" is missing'
            raise EnvelopeError(msg)
        found = found[part]
    return found
