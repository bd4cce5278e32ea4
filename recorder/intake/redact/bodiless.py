"""Requests whose bodies are not kept: only who, when and what about.

Input typed into a Pod, a token and the content of a Secret are in the bodies
of such requests, and commands in their address as well.
"""

import ipaddress
import re
from collections.abc import Iterator

import msgspec

from recorder.intake.redact.digest import GONE
from recorder.intake.redact.edits import Edit
from recorder.intake.redact.tokens import plain_value

RESOURCES = frozenset({"secrets", "tokenreviews"})
SUBRESOURCES = frozenset({"attach", "exec", "portforward", "proxy", "token"})
_ADDRESS = re.compile(
    r"[^?]*/(?:secrets|tokenreviews|(?:pods|services|nodes|serviceaccounts)"
    r"/[^/?]*/(?:attach|exec|portforward|proxy|token))(?:[/?]|$)"
)
_BODIES = frozenset({b"requestObject", b"responseObject"})
_HIDDEN = b'"' + GONE + b'"'
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')

PATCHES = b"patch.webhook.admission.k8s.io/"
"""How annotations begin that hold what a webhook put into an object."""

IPV4_BITS = 24
IPV6_BITS = 48


class _Reference(msgspec.Struct, frozen=True):
    resource: str | None = None
    subresource: str | None = None


class _Record(msgspec.Struct, frozen=True):
    requestURI: str | None = None  # noqa: N815 - the name on the wire
    objectRef: _Reference | None = None  # noqa: N815


_decode = msgspec.json.Decoder(_Record).decode
_decode_texts = msgspec.json.Decoder(list[str]).decode


def is_bodiless(raw: bytes) -> bool:
    """Return whether a record is of a request whose bodies are not kept."""
    try:
        record = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    about = record.objectRef or _Reference()
    return (
        about.resource in RESOURCES
        or about.subresource in SUBRESOURCES
        or _ADDRESS.match(record.requestURI or "") is not None
    )


def bodies(raw: bytes) -> list[Edit]:
    """Find the bodies of a record."""
    return [
        Edit(start, end, _HIDDEN)
        for name, start, end in members(raw)
        if name in _BODIES and raw[start:end] not in {_HIDDEN, b"null"}
    ]


def commands(raw: bytes) -> list[Edit]:
    """Find what follows ``?`` in the address of a record."""
    edits = []
    for name, start, end in members(raw):
        token = raw[start:end]
        if name == b"requestURI" and token.startswith(b'"'):
            path, asked, _ = plain_value(token).partition(b"?")
            if asked:
                text = path.decode(errors="replace")
                edits.append(Edit(start, end, msgspec.json.encode(text)))
    return edits


def patches(raw: bytes) -> list[Edit]:
    """Find what webhooks put into an object, as annotations of its record.

    Each is a patch in a text, and no key names its object.
    """
    if PATCHES not in raw:
        return []
    return [
        Edit(start, end, _HIDDEN)
        for name, start, end in _members_of(raw, b"annotations")
        if name.startswith(PATCHES)
    ]


def messages(raw: bytes) -> list[Edit]:
    """Find messages of an API server or a webhook about a request's object.

    They may quote it; status, code and reason show the outcome.
    """
    return [
        Edit(start, end, _HIDDEN)
        for name, start, end in _members_of(raw, b"responseStatus")
        if name in {b"message", b"details"}
    ]


def _members_of(raw: bytes, wanted: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the members of an object that is a member of the root."""
    for name, begin, finish in members(raw):
        if name == wanted:
            for inner, start, end in members(raw[begin:finish]):
                yield inner, begin + start, begin + end


def truncated_addresses(raw: bytes) -> list[Edit]:
    """Find the addresses of a record, to be reduced to their networks."""
    edits = []
    for name, start, end in members(raw):
        if name != b"sourceIPs":
            continue
        token = raw[start:end]
        try:
            given = _decode_texts(token)
        except msgspec.DecodeError:
            edits.append(Edit(start, end, _HIDDEN))
            continue
        cut = [_network(text) for text in given]
        if cut != given:
            edits.append(Edit(start, end, msgspec.json.encode(cut)))
    return edits


def _network(text: str) -> str:
    """Return the first address of the network that an address is in."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return GONE.decode()
    bits = IPV4_BITS if address.version == 4 else IPV6_BITS  # noqa: PLR2004
    network = ipaddress.ip_network(f"{address}/{bits}", strict=False)
    return str(network.network_address)


def members(raw: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, start and end of each member of a document's root."""
    depth, name, start = 0, None, 0
    for token in _TOKEN.finditer(raw):
        first = token[0][:1]
        if first in b"{[":
            depth += 1
            if depth == 2:  # noqa: PLR2004 - within the root
                start = token.start()
            continue
        if first in b"}]":
            depth -= 1
        elif depth != 1 or first in b",:":
            continue
        elif name is None:
            name = plain_value(token[0])
            continue
        else:
            start = token.start()
        if depth == 1 and name is not None:
            yield name, start, token.end()
            name = None
