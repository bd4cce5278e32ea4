"""Rendering: what differs from object to object and from version to version.

A filled document is cut once into text and slots: uids, times, addresses,
suffixes of names, identifiers of containers and the like. An object fills
each slot with a value of its own, the same in all its versions and in what
speaks of it.
"""

import random
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from bench.site import UNAMBIGUOUS

__all__ = ["MAKERS", "Makers", "Page", "Slot", "Values", "written_time"]

Slot = tuple[str, str]
"""What it is, and what the template has there."""

SLOTS = re.compile(
    r"""
      "resourceVersion":"(?P<version>\d+)"
    | "count":(?P<count>\d+)
    | "lastTimestamp":"(?P<last>[^"]+)"
    | (?P<images>"@images@")
    | (?P<uid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})
    | (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)
    | (?P<container>fakeRuntime://[^"]+)
    | (?P<address>(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]))
    | (?P<node>gpu-00\d)
    | (?P<suffix>(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}(?=["/ _.\\,)]))
    | (?P<started>(?<=\.)[0-9a-f]{16}(?="))
    | (?P<minute>(?<=-)29\d{6}(?=["\-,]))
    | (?P<hexadecimal>(?<=")[0-9a-f]{32}(?=")|[0-9a-f]{36}(?=\.32766))
    | (?P<host>default-scheduler-\w+)
    | (?P<ticket>(?<=HW-)\d+|(?<=smi:)\d+)
    | (?P<rack>(?:rack|leaf|asset|block|spine)-\d+)
    | (?P<xid>(?<=Xid\ )\d+|(?<=xid-)\d+)
    | (?P<index>(?<=GPU\ )\d|(?<=link\ )\d+|(?<=mlx5_)\d(?=\ port))
    | (?P<bus>(?<=0000:)[0-9a-f]{2})
    | (?P<stamp>17636900\d\d)
    | (?P<took>(?<=\ in\ )0s\ \(0s)
    | (?P<size>(?<=Image\ size:\ )0)
    """,
    re.VERBOSE,
)
XIDS = ("31", "43", "48", "63", "74", "79", "94", "95", "119", "145")


_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"(?::(?:"(?:[^"\\]|\\.)*"|\d+))?')
"""Strings, and members with a plain value: no slot reaches beyond one. Few
differ between the versions of an object, so cutting is remembered."""


@lru_cache(1 << 16)
def _cut(token: str) -> tuple[tuple[str, Slot], ...]:
    """Return the slots of a token, each with the text before it."""
    pieces = []
    place = 0
    for found in SLOTS.finditer(token):
        kind = found.lastgroup or ""
        start, end = found.span(kind)
        pieces.append((token[place:start], (kind, found[kind])))
        place = end
    return (*pieces, (token[place:], _END)) if pieces else ()


_END = ("", "")


class Page:
    """A document cut into text and slots."""

    __slots__ = ("_parts", "_slots")

    def __init__(self, text: str) -> None:
        self._parts: list[str] = []
        self._slots: list[Slot] = []
        place = 0
        before = ""
        kind = "version"
        for token in _TOKENS.finditer(text):
            pieces = _cut(token[0])
            if not pieces:
                continue
            before += text[place : token.start()]
            for piece, slot in pieces[:-1]:
                self._parts.append(before + piece)
                self._slots.append(
                    (kind, slot[1]) if slot[0] == "version" else slot
                )
                if slot[0] == "version":
                    kind = "earlier"
                before = ""
            before = pieces[-1][0]
            place = token.end()
        self._parts.append(before + text[place:])

    def render(self, values: "Values", version: int) -> bytes:
        pieces = [self._parts[0]]
        rest = iter(self._parts)
        next(rest)
        for slot, text in zip(self._slots, rest, strict=True):
            if slot[0] == "version":
                pieces.append(str(version))
            else:
                pieces.append(values[slot])
            pieces.append(text)
        return "".join(pieces).encode()


class Values(dict[Slot, str]):
    """What one object has in its slots; made when first asked for.

    Slots that another object owns, a Job that of its pods, are asked of that
    one.
    """

    def __init__(
        self,
        chance: random.Random,
        at: datetime,
        *,
        owner: "Values | None" = None,
        makers: "Makers | None" = None,
    ) -> None:
        super().__init__()
        self._makers = makers or MAKERS
        self._chance = chance
        self._owner = owner
        self._at = at
        self._first: datetime | None = None
        self._pace = chance.lognormvariate(0.5, 1)

    def __missing__(self, slot: Slot) -> str:
        if self._owner is not None and slot in self._owner:
            return self._owner[slot]
        kind, old = slot
        if kind == "last":
            value = self["time", old]
        elif kind == "time":
            value = self._time(old)
        else:
            value = self._makers[kind](self._chance)
        self[slot] = value
        return value

    def _time(self, old: str) -> str:
        then = datetime.fromisoformat(old)
        if self._first is None:
            self._first = then
        moved = self._at + (then - self._first) * self._pace
        moved += timedelta(microseconds=self._chance.randrange(10**6))
        return written_time(moved, fraction="." in old)


def written_time(at: datetime, *, fraction: bool) -> str:
    text = at.astimezone(UTC).replace(tzinfo=None)
    precision = "microseconds" if fraction else "seconds"
    return text.isoformat(timespec=precision) + "Z"


def _hexadecimal(length: int) -> Callable[[random.Random], str]:
    return lambda chance: f"{chance.getrandbits(4 * length):0{length}x}"


def _number(low: int, high: int) -> Callable[[random.Random], str]:
    return lambda chance: str(chance.randrange(low, high))


def _uid(chance: random.Random) -> str:
    text = f"{chance.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def _suffix(chance: random.Random) -> str:
    return "".join(chance.choices(UNAMBIGUOUS, k=5))


def _address(chance: random.Random) -> str:
    bits = chance.getrandbits(24)
    return f"10.{bits >> 16}.{bits >> 8 & 255}.{bits & 255}"


def _rack(chance: random.Random) -> str:
    letter = chance.choice("abcdefgh")
    return f"{letter}{chance.randrange(1, 64):02}-{chance.randrange(10000)}"


def _took(chance: random.Random) -> str:
    seconds = chance.lognormvariate(1.5, 1.2)
    return f"{seconds:.3f}s ({seconds + chance.random():.3f}s"


Makers = Mapping[str, Callable[[random.Random], str]]
MAKERS: Makers = {
    "earlier": _number(10**6, 10**7),
    "count": lambda _: "1",
    "uid": _uid,
    "container": lambda chance: f"containerd://{chance.getrandbits(256):064x}",
    "address": _address,
    "node": lambda chance: f"node-{chance.randrange(10**6)}",
    "suffix": _suffix,
    "started": lambda chance: f"18{chance.getrandbits(56):014x}",
    "minute": _number(29_000_000, 29_999_999),
    "hexadecimal": lambda chance: f"{chance.getrandbits(128):032x}",
    "host": lambda chance: f"default-scheduler-cp-{chance.randrange(3)}",
    "ticket": _number(1000, 99999),
    "rack": _rack,
    "xid": lambda chance: chance.choice(XIDS),
    "index": _number(0, 8),
    "bus": _hexadecimal(2),
    "stamp": _number(1_700_000_000, 1_763_000_000),
    "took": _took,
    "size": _number(10**7, 2 * 10**10),
}
