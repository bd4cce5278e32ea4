"""Adapters: the places outside the database that checkpoints are kept in."""

from pathlib import Path

from recorder.keeping.checkpoints.bucket import Bucket
from recorder.keeping.checkpoints.folder import Folder, Repository
from recorder.keeping.checkpoints.place import Place, PlaceError
from recorder.model.errors import ConfigError

__all__ = ["Place", "PlaceError", "open_place"]


def open_place(address: str) -> Place:
    """Return the place of an address; nothing is looked at yet.

    Raises:
        ConfigError: there is no such kind of place.
    """
    if address.startswith("s3://"):
        return Bucket(address)
    if address.startswith("git:"):
        return Repository(Path(address.removeprefix("git:")).expanduser())
    if "://" in address:
        msg = (
            f'cannot use the checkpoint place "{address}": write a folder,'
            " git:FOLDER or s3://BUCKET/PREFIX"
        )
        raise ConfigError(msg)
    return Folder(Path(address).expanduser())
