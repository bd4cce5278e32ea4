"""Files that people have: unpacked, decoded and split into documents.

Nothing here interprets a document; `recorder.sources.audit` does.
"""

from recorder.sources.files.splitting import documents, is_json
from recorder.sources.files.text import Document, State, Text
from recorder.sources.files.unpacking import (
    DEVICE,
    LINK,
    CutError,
    Member,
    UnreadableError,
    members,
)

__all__ = [
    "DEVICE",
    "LINK",
    "CutError",
    "Document",
    "Member",
    "State",
    "Text",
    "UnreadableError",
    "documents",
    "is_json",
    "members",
]
