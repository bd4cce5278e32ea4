"""Making the name of a file as durable as what is in it."""

import os
from pathlib import Path

__all__ = ["sync_folder"]


def sync_folder(path: Path) -> None:
    """Force the names in a folder to disk, which fsync of a file does not."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
