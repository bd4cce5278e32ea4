"""Canaries: values that no log may hold, and where they are planted.

Each is unique in its input and is recognizable, so that the oracle
finds them in whatever mutation left, and in whatever came out. A planted
fragment is a member of an object, as text, ready to be put behind a brace or
a comma.
"""

import base64
import json
import random
import re
from collections.abc import Callable, Iterator

__all__ = ["CANARY", "SECRET_NAMES", "fragment", "spellings"]

CANARY = re.compile(r"cAnArY[0-9a-f]{12}")
SECRET_NAMES = (
    "DB_PASSWORD",
    "HF_TOKEN",
    "API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "SENTRY_DSN",
    "basic-auth",
)
"""Names that match the default patterns without doubt. What a mutation makes
of them counts as no leak."""

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def spellings(canary: str) -> Iterator[bytes]:
    """Yield the ways in which a value might show."""
    yield canary.encode()
    for shift in range(3):
        yield base64.b64encode(b"_" * shift + canary.encode())[4:-4]
    for form in ("\\u%04x", "\\u%04X"):
        yield "".join(form % ord(letter) for letter in canary).encode()


def canary(chance: random.Random) -> str:
    return f"cAnArY{chance.getrandbits(48):012x}"


def encoded(chance: random.Random) -> str:
    return base64.b64encode(canary(chance).encode()).decode()


def packed(text: str) -> str:
    return json.dumps(text)


def variable(chance: random.Random) -> str:
    """An item of an environment, in one of the ways to write it."""
    name, value = packed(chance.choice(SECRET_NAMES)), packed(canary(chance))
    match chance.randrange(8):
        case 0:
            return f'{{"value":{value},"name":{name}}}'
        case 1:
            return f'{{ "name" : {name} ,\n"value":\t{value} }}'
        case 2:
            other = packed(canary(chance))
            return (
                f'{{"name":"MODE","name":{name},'
                f'"value":{value},"value":{other}}}'
            )
        case 3:
            return f'{{"n\\u0061me":{name},"\\u0076alue":{value}}}'
        case 4:
            return f'{{"name":{name},"value":{{"a":[{value}]}}}}'
        case _:
            return f'{{"name":{name},"value":{value}}}'


def environment(chance: random.Random) -> str:
    items = [variable(chance)]
    if chance.random() < 0.4:
        items.insert(0, '{"name":"MODE","value":"fast"}')
    if chance.random() < 0.3:
        items.append('{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"b"}}}')
    if chance.random() < 0.1:
        items.append(f"[{variable(chance)}]")
    key = chance.choice(["env"] * 6 + ["\\u0065nv", "e\\u006ev"])
    return f'"{key}":[{",".join(items)}]'


def container(chance: random.Random) -> str:
    return (
        f'"spec":{{"containers":[{{"name":"a","image":"b"'
        f",{environment(chance)}}}]}}"
    )


def secret_object(chance: random.Random) -> str:
    data = f'"data":{{"password":"{encoded(chance)}","b":null}}'
    plain = f'"stringData":{{"user":"{canary(chance)}","c":["d"]}}'
    kind = chance.choice(
        ['"kind":"Secret"'] * 4
        + ['"kind":"S\\u0065cret"', '"kind" : "Secret"']
    )
    members = [kind, data, plain, '"apiVersion":"v1"']
    if chance.random() < 0.3:
        applied = packed(f'{{"kind":"Secret",{data}}}')
        members.append(
            f'"metadata":{{"annotations":{{"{APPLIED}":{applied}}}}}'
        )
    chance.shuffle(members)
    return f"{{{','.join(members)}}}"


def secret(chance: random.Random) -> str:
    return f'"object":{secret_object(chance)}'


def secret_in_list(chance: random.Random) -> str:
    return f'"extra":[1,[{secret_object(chance)}],{secret_object(chance)}]'


def secret_list(chance: random.Random) -> str:
    items = f'"items":[{{"data":{{"a":"{encoded(chance)}"}}}},{{}}]'
    kind = '"kind":"SecretList"'
    pair = [kind, items] if chance.random() < 0.5 else [items, kind]
    return f'"list":{{{",".join(pair)}}}'


def applied(chance: random.Random) -> str:
    inner = f'{{"kind":"Pod",{container(chance)}}}'
    end = "\n" if chance.random() < 0.7 else ""
    return f'"{APPLIED}":{packed(inner + end)}'


def packed_secret(chance: random.Random) -> str:
    text = secret_object(chance)
    for _ in range(chance.randrange(1, 4)):
        text = packed(text)
    return f'"note":{text}'


def quoted(chance: random.Random) -> str:
    """A message that quotes a piece of JSON."""
    plain = f'"env":[{{"name":"HF_TOKEN","value":"{canary(chance)}"}}]'
    text = f"cannot apply {{{plain}}}: try again"
    return f'"message":{packed(text)}'


_FRAGMENTS: tuple[Callable[[random.Random], str], ...] = (
    environment,
    container,
    secret,
    secret_in_list,
    secret_list,
    applied,
    packed_secret,
    quoted,
)


def fragment(chance: random.Random) -> bytes:
    """Return a member with at least one canary in it."""
    return chance.choice(_FRAGMENTS)(chance).encode()
