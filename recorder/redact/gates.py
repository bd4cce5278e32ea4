"""Cheap questions whose answer is usually no.

Each is one search for a fixed beginning, at a quarter of a nanosecond a byte.
A no must be certain; a yes only means that somebody has to look closely.
"""

import re

__all__ = [
    "env_marks",
    "has_secret_kind",
    "has_token_kind",
    "may_hide_letters",
]

may_hide_letters = re.compile(rb"\\u00(?:2[^67]|3[^cCeE]|[4-7].)").search
r"""Whether a key may be spelled with escapes, as ``"\u0065nv"`` is.

Encoders escape ``&``, ``'``, ``<`` and ``>`` by habit, and no key of ours has
them; whoever escapes a letter, a quote or a backslash has something in mind.
"""

has_secret_kind = re.compile(rb'"Secret(?:List)?\\*"').search
"""Whether something may say of itself that it is a Secret."""

has_token_kind = re.compile(rb'"Token(?:Request|Review)\\*"').search
"""Whether something may be a request for a token, or a question about one."""

env_marks = re.compile(rb'"env(?:"\s*:\s*(\[)|\\)').finditer
"""Where environments begin: with group 1 at the bracket, or without it where
a quote is escaped, in JSON within a string."""
