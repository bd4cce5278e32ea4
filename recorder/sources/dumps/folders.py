"""The files below a path that are imported, and what else is there.

No link is followed: a folder from someone else may have links to anything.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from recorder.model.errors import InputError
from recorder.sources.files import DEVICE, LINK

FILES_MAX = 100_000
"""Of one folder: a must-gather of a large cluster has a tenth."""

DEPTH_MAX = 32
"""Of folders."""


def files_of(path: Path, skip: Callable[[str], None]) -> Iterator[Path]:
    """Yield the regular files below a path, in the order of their names.

    Args:
        path: a file or a folder.
        skip: called with what each of the others is.

    Raises:
        InputError: it is neither, or there are too many.
    """
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        msg = f'cannot import "{path}": it is no regular file and no folder'
        raise InputError(msg, code="input.path")
    for count, one in enumerate(_below(path, skip)):
        if count == FILES_MAX:
            msg = f"{path} holds more than {FILES_MAX:,} files"
            raise InputError(msg, code="input.path")
        yield one


def _below(path: Path, skip: Callable[[str], None]) -> Iterator[Path]:
    for folder, inner, names in os.walk(path, followlinks=False):
        inner.sort()
        if len(Path(folder).relative_to(path).parts) > DEPTH_MAX:
            inner.clear()
            skip("deep folder")
            continue
        for name in sorted([*names, *inner]):
            one = Path(folder) / name
            if one.is_symlink():
                skip(LINK)
            elif one.is_file():
                yield one
            elif not one.is_dir():
                skip(DEVICE)
