"""Cheap questions whose answer is usually no.

Each is one search for a fixed beginning, at a quarter of a nanosecond a byte.
A no must be certain; a yes only means that somebody has to look closely.
"""

import re

__all__ = [
    "next_env",
    "patches_env",
    "has_secret_kind",
    "has_token_kind",
    "may_hide_json",
    "may_hide_letters",
]

may_hide_letters = re.compile(rb"\\u00(?:2[^67]|3[^cCeE]|[4-7].)").search
r"""Whether a key may be spelled with escapes, as ``"\u0065nv"`` is.

Encoders escape ``&``, ``'``, ``<`` and ``>`` by habit, and no key of ours has
them; whoever escapes a letter, a quote or a backslash has something in mind.
"""

_KIND = rb'"kind\\*"(?:\s|\\+[nrt])*:(?:\s|\\+[nrt])*\\*'

has_secret_kind = re.compile(_KIND + rb'"Secret(?:List)?\\*"').search
"""Whether something says of itself that it is a Secret, or a list of them."""

has_token_kind = re.compile(_KIND + rb'"Token(?:Request|Review)\\*"').search
"""Whether something is a request for a token, or a question about one. Both
are made to be answered and never kept: only audit sees them."""

patches_env = re.compile(rb'"path"\s*:\s*"[^"]*/env[/"]').search
"""Whether an operation of a JSON patch may write to an environment."""

next_env = re.compile(rb'"env(?:"\s*:\s*(\[)(?!\s*\])|\\)').search
"""Where the next environment begins that is not empty: group 1 is at the
bracket; it is missing in JSON within a string, where the quote is escaped."""


_has_copy = re.compile(
    rb"env\\|Secret(?:List)?\\|Token(?:Request|Review)\\"
).search


def may_hide_json(token: bytes) -> bool:
    """Tell whether a string token may hold JSON with something to hide."""
    return bool(_has_copy(token) or may_hide_letters(token))
