"""Cheap questions whose answer is usually no.

Each begins with a search for a fixed piece of text, which takes a tenth of a
nanosecond per byte; an expression reads on from where it is found. A no must
be certain; a yes only means that a closer search is needed.
"""

import re

from stringzilla import find

_escaped_letter = re.compile(rb"\\u00(?:2[^67]|3[^cCeE]|[4-7].)").search
_ESCAPED = rb"\u00"

_KIND = rb'"kind\\*"(?:\s|\\+[nrt])*:(?:\s|\\+[nrt])*\\*'

_secret_kind = re.compile(_KIND + rb'"Secret(?:List)?\\*"').search
_SECRET = b'"Secret'

_token_kind = re.compile(_KIND + rb'"Token(?:Request|Review)\\*"').search
_TOKEN = b'"Token'

_env_patch = re.compile(rb'"path"\s*:\s*"[^"]*/env[/"]').search
_ENV_PATH = b"/env"

_env = re.compile(rb'"env(?:"\s*:\s*(\[)(?!\s*\])|\\)').search
_ENV = b'"env'

_has_copy = re.compile(
    rb"env\\|Secret(?:List)?\\|Token(?:Request|Review)\\"
).search


def may_hide_letters(raw: bytes) -> bool:
    r"""Return whether a key may be written with escapes, as ``"\u0065nv"``.

    Encoders escape ``&``, ``'``, ``<`` and ``>`` by default, and no key of
    ours has them; escaping a letter, a quote or a backslash is deliberate.
    """
    place = find(raw, _ESCAPED)
    return place >= 0 and _escaped_letter(raw, place) is not None


def has_secret_kind(raw: bytes) -> bool:
    """Return whether something declares itself a Secret, or a list of them."""
    return find(raw, _SECRET) >= 0 and _secret_kind(raw) is not None


def has_token_kind(raw: bytes) -> bool:
    """Return whether something requests a token, or a review of one.

    Both are answered and never stored: only audit sees them.
    """
    return find(raw, _TOKEN) >= 0 and _token_kind(raw) is not None


def patches_env(raw: bytes) -> bool:
    """Return whether a JSON patch may write to an environment."""
    return find(raw, _ENV_PATH) >= 0 and _env_patch(raw) is not None


def next_env(raw: bytes, start: int = 0) -> re.Match[bytes] | None:
    """Return where the next environment begins that is not empty.

    Group 1 is at the bracket; it is missing in JSON within a string, where the
    quote is escaped.
    """
    place = find(raw, _ENV, start)
    return None if place < 0 else _env(raw, place)


def may_hide_json(token: bytes) -> bool:
    """Return whether a string token may hold JSON with something to hide."""
    return bool(_has_copy(token) or may_hide_letters(token))
