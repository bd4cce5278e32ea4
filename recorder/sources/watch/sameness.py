"""Whether two documents can be the same version of one object. Pure.

The same version with other content is the mark of a rewound server. But after
an upgrade a server may return the same stored object with more fields: it adds
the defaults of fields that the older one did not know, and the items of a list
lack ``kind`` and ``apiVersion``. So outside the metadata, which no server
invents, a field that only one side has is no difference; a field that both
have with different values is.
"""

from typing import Any

import msgspec

from recorder.sources.watch.frames import UNREADABLE


def may_be_same(known: bytes, live: bytes) -> bool:
    """Return whether both can be one version of one object."""
    try:
        ours, theirs = msgspec.json.decode(known), msgspec.json.decode(live)
    except UNREADABLE:
        # A document that cannot be parsed proves nothing.
        return True
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return True
    if ours.get("metadata") != theirs.get("metadata"):
        return False
    return _agree(ours, theirs)


def _agree(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return all(
            _agree(ours[key], theirs[key])
            for key in ours.keys() & theirs.keys()
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_agree, ours, theirs))
    return bool(ours == theirs)
