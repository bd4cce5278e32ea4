"""Mutations: of bytes, and of the structure that they spell.

Structure is changed in place, by moving the bytes of whole members
and values, so that the rest keeps its spelling and a mutation
costs little more than a copy. Every choice is drawn from the chance given.
"""

import json
import random
import re
from collections.abc import Callable
from itertools import pairwise

from tests.fuzz.canaries import fragment
from tests.fuzz.seeds import NASTIES, TOKENS, pool

__all__ = ["cut_up", "damaged", "mutated", "planted", "seeded"]

_OPENING = re.compile(rb'[{,](?="[^"\\]{1,60}":)')
_KEY = re.compile(rb'"([^"\\]{1,60})":')
_decode = json.JSONDecoder(strict=False).raw_decode

BYTES_MAX = 60_000
"""Doubling is stopped here; what is longer is made on purpose."""

LONG_ONE_IN = 4_000
LONG_BYTES = 1_000_000

Mutation = Callable[[bytes, random.Random], bytes]


def seeded(chance: random.Random) -> tuple[bytes, str]:
    """Draw a document to begin with, most often with canaries in it."""
    seeds = pool(small=chance.random() < 0.85)
    raw, resource = seeds[chance.randrange(len(seeds))]
    if chance.random() < 0.04:
        raw = NASTIES[chance.randrange(len(NASTIES))]
    if chance.random() < 0.8:
        raw = planted(raw, chance)
    return raw, resource


def planted(raw: bytes, chance: random.Random) -> bytes:
    """Put a member with a canary into a document."""
    places = [match.end() for match in _OPENING.finditer(raw)]
    if not places:
        return raw
    place = chance.choice(places)
    return raw[:place] + fragment(chance) + b"," + raw[place:]


def mutated(raw: bytes, chance: random.Random) -> bytes:
    """Mutate as often as not, and seldom more than thrice."""
    draw = chance.random()
    times = 0 if draw < 0.15 else 1 if draw < 0.6 else 2 if draw < 0.85 else 4
    for _ in range(times):
        ways = _STRUCTURE if chance.random() < 0.75 else _BYTES
        raw = ways[chance.randrange(len(ways))](raw, chance)
    if chance.randrange(LONG_ONE_IN) == 0:
        raw = raw.replace(b'"', b'"' + b"x" * LONG_BYTES, 2)
    return raw


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Damage bytes that have no structure to speak of."""
    return _DAMAGES[chance.randrange(len(_DAMAGES))](data, chance)


def cut_up(data: bytes, chance: random.Random) -> list[bytes]:
    """Cut bytes into portions, as a network might."""
    count = chance.choice((1, 1, 2, 5, 30))
    marks = sorted(chance.randrange(len(data) + 1) for _ in range(count - 1))
    bounds = [0, *marks, len(data)]
    return [data[start:end] for start, end in pairwise(bounds)]


def _place(raw: bytes, chance: random.Random) -> int:
    return chance.randrange(len(raw) + 1)


def _span(raw: bytes, chance: random.Random) -> tuple[int, int]:
    start = _place(raw, chance)
    return start, start + int(chance.expovariate(1 / 20))


def _flip(raw: bytes, chance: random.Random) -> bytes:
    if not raw:
        return raw
    altered = bytearray(raw)
    for _ in range(chance.choice((1, 1, 1, 5))):
        altered[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    return bytes(altered)


def _write_over(raw: bytes, chance: random.Random) -> bytes:
    start, end = _span(raw, chance)
    return raw[:start] + chance.randbytes(end - start) + raw[end:]


def _cut_out(raw: bytes, chance: random.Random) -> bytes:
    start, end = _span(raw, chance)
    return raw[:start] + raw[end:]


def _double(raw: bytes, chance: random.Random) -> bytes:
    start, end = _span(raw, chance)
    return raw[:end] + raw[start:]


def _cut_off(raw: bytes, chance: random.Random) -> bytes:
    return raw[: _place(raw, chance)]


def _behead(raw: bytes, chance: random.Random) -> bytes:
    return raw[_place(raw, chance) :]


def _insert_token(raw: bytes, chance: random.Random) -> bytes:
    place = _place(raw, chance)
    return raw[:place] + chance.choice(TOKENS) + raw[place:]


def _splice(raw: bytes, chance: random.Random) -> bytes:
    other = seeded(chance)[0]
    return raw[: _place(raw, chance)] + other[_place(other, chance) :]


def _nasty(raw: bytes, chance: random.Random) -> bytes:
    place = _place(raw, chance)
    return raw[:place] + chance.choice(NASTIES) + raw[place:]


_BYTES: tuple[Mutation, ...] = (
    _flip,
    _flip,
    _write_over,
    _cut_out,
    _double,
    _cut_off,
    _behead,
    _insert_token,
    _insert_token,
    _splice,
    _nasty,
)


_DAMAGES: tuple[Mutation, ...] = (
    _flip,
    _flip,
    _write_over,
    _cut_out,
    _double,
    _cut_off,
)


def _member(
    raw: bytes, chance: random.Random
) -> tuple[int, int, int, int] | None:
    """Find a member: where its key begins and ends, and its value."""
    key = _KEY.search(raw, _place(raw, chance)) or _KEY.search(raw)
    if key is None:
        return None
    try:
        end = _decode(raw.decode("latin-1"), key.end())[1]
    except (ValueError, RecursionError):
        return None
    return key.start(), key.end(), key.end(), end


def _on_member(
    change: Callable[[bytes, bytes, random.Random], bytes],
) -> Mutation:
    """Make a mutation of what changes one member: its key, its value."""

    def act(raw: bytes, chance: random.Random) -> bytes:
        found = _member(raw, chance)
        if found is None or len(raw) > BYTES_MAX:
            return _insert_token(raw, chance)
        start, key_end, value, end = found
        key = raw[start : key_end - 1]
        return raw[:start] + change(key, raw[value:end], chance) + raw[end:]

    return act


def _drop(key: bytes, value: bytes, chance: random.Random) -> bytes:
    del key, value, chance
    return b'"dropped":0'


def _duplicate(key: bytes, value: bytes, chance: random.Random) -> bytes:
    other = value if chance.random() < 0.5 else chance.choice(_VALUES)
    pair = [key + b":" + value, key + b":" + other]
    chance.shuffle(pair)
    return b",".join(pair)


def _retype(key: bytes, value: bytes, chance: random.Random) -> bytes:
    match chance.randrange(5):
        case 0:
            return key + b":[" + value + b"]"
        case 1:
            return key + b':{"a":' + value + b"}"
        case _:
            return key + b":" + chance.choice(_VALUES)


def _pack(key: bytes, value: bytes, chance: random.Random) -> bytes:
    """Put a value into a string, as tools put manifests there."""
    text = value.decode("utf-8", "replace")
    for _ in range(chance.choice((1, 1, 2, 9))):
        if len(text) < BYTES_MAX:
            text = json.dumps(text, ensure_ascii=chance.random() < 0.5)
    return key + b":" + text.encode()


def _unpack(key: bytes, value: bytes, chance: random.Random) -> bytes:
    try:
        inner = json.loads(value)
    except (ValueError, RecursionError):
        return _pack(key, value, chance)
    if not isinstance(inner, str):
        return _pack(key, value, chance)
    return key + b":" + inner.encode("utf-8", "replace")


def _rename(key: bytes, value: bytes, chance: random.Random) -> bytes:
    del key
    return chance.choice(_KEYS) + b":" + value


def _escape_key(key: bytes, value: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(1, max(2, len(key) - 1))
    escaped = b"\\u%04x" % key[place]
    return key[:place] + escaped + key[place + 1 :] + b":" + value


def _escape_value(key: bytes, value: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(value) + 1)
    letter = value[place : place + 1]
    if letter.isalnum():
        value = value[:place] + b"\\u%04X" % letter[0] + value[place + 1 :]
    return key + b":" + value


def _space(key: bytes, value: bytes, chance: random.Random) -> bytes:
    gap = chance.choice((b" ", b"\n", b"\r\n", b"\t \n", b" " * 40))
    return key + gap + b":" + gap + value


def _bury(key: bytes, value: bytes, chance: random.Random) -> bytes:
    depth = chance.choice((3, 30, 300))
    return key + b":" + b'{"a":[' * depth + value + b"]}" * depth


def _move(raw: bytes, chance: random.Random) -> bytes:
    """Take a member from its place, or a copy of it, to another."""
    found = _member(raw, chance)
    if found is None or len(raw) > BYTES_MAX:
        return _double(raw, chance)
    start, _, _, end = found
    member, rest = raw[start:end], raw
    if chance.random() < 0.5:
        rest = raw[:start] + b'"moved":0' + raw[end:]
    places = [match.end() for match in _OPENING.finditer(rest)]
    place = chance.choice(places) if places else 0
    return rest[:place] + member + b"," + rest[place:]


_VALUES = (
    *(b"null", b"true", b"0", b"-1.5e300", b"9" * 50, b'""', b"{}", b"[]"),
    *(b'"text"', b'"Secret"', b'"HF_TOKEN"', b'"\\u0000"', b'"\\ud800"'),
    *(b'"0001-01-01T00:00:00Z"', b'"10000-01-01T00:00:00Z"', b'[{"a":1}]'),
    *(b'{"kind":"Secret"}', b'"' + b"n" * 3_000 + b'"', b'"\xf0\x9f\x98\x80"'),
    *(b'"2026-11-21T03:18:00.000000001+14:00"', b'"\xc3\xa9"'),
)
_KEYS = (
    *(b'"env"', b'"data"', b'"stringData"', b'"kind"', b'"items"', b'"value"'),
    *(b'"name"', b'"metadata"', b'"type"', b'"object"', b'"op"', b'"path"'),
    *(b'"resourceVersion"', b'"token"', b'"eventTime"', b'"frame"', b'""'),
)
_STRUCTURE: tuple[Mutation, ...] = (
    *map(
        _on_member,
        (
            _drop,
            _duplicate,
            _retype,
            _pack,
            _unpack,
            _rename,
            _escape_key,
            _escape_value,
            _space,
            _bury,
        ),
    ),
    _move,
    planted,
)
