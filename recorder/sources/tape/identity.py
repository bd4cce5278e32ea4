"""What makes a tape the same tape, under whatever name it is played.

Playing goes on where it stopped, and a second playing adds nothing, only if
the log can tell that it is the same tape. A tape may carry a uid of its own;
for one that does not, its bytes are its identity.
"""

from hashlib import file_digest
from pathlib import Path

from recorder.sources.tape.errors import translate_reading
from recorder.sources.tape.reader import TapeReader

__all__ = ["tape_identity"]


def tape_identity(path: Path) -> str:
    """Return the uid in the header, else ``sha256:`` and the file's hash.

    Reads the whole file where there is no uid, in bounded memory.

    Raises:
        TapeError: the file is not a tape.
    """
    with TapeReader(path) as tape:
        if tape.header.tape_uid is not None:
            return tape.header.tape_uid
    with translate_reading(path), path.open("rb") as file:
        return f"sha256:{file_digest(file, 'sha256').hexdigest()}"
