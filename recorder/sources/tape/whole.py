"""A tape that exists completely, or not at all.

Written under another name and renamed when it is complete. A recording must
keep what it has when it is killed; a cut can be repeated.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recorder.sources.tape.errors import TapeExistsError, translate_writing
from recorder.sources.tape.header import TapeHeader
from recorder.sources.tape.writer import TapeWriter


def check_free(path: Path) -> None:
    """Check that the file does not exist yet.

    Raises:
        TapeExistsError: there is one.
    """
    if os.path.lexists(path):
        msg = (
            f'"{path}" exists: a tape is not overwritten; name another file,'
            " or add --force"
        )
        raise TapeExistsError(msg)


@contextmanager
def whole_tape(
    path: Path, header: TapeHeader, *, overwrite: bool = False
) -> Iterator[TapeWriter]:
    """Write a tape that appears when it is complete.

    After a crash, and after any error inside, it does not exist, and a file
    that was to be overwritten is unchanged; a hidden file may remain beside
    it, which the next cut to the same name replaces.

    Raises:
        TapeExistsError: such a file exists, or does by the end.
        TapeWriteError: the file cannot be written.
    """
    if not overwrite:
        check_free(path)
    beside = path.with_name(f".partial-{path.name}")
    try:
        # It is not read before it is complete. With intermediate flushes its
        # bytes would depend on how long they took.
        with TapeWriter(
            beside, header, overwrite=True, steady=lambda: 0.0
        ) as writer:
            yield writer
        _put(beside, path, overwrite=overwrite)
    finally:
        with translate_writing(path):
            beside.unlink(missing_ok=True)


def _put(beside: Path, path: Path, *, overwrite: bool) -> None:
    with translate_writing(path):
        if overwrite:
            beside.replace(path)
        else:
            try:
                # Unlike a rename, it does not overwrite a file created
                # meanwhile.
                path.hardlink_to(beside)
            except FileExistsError:
                check_free(path)
                raise
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
