"""What can be wrong with an archive."""

from recorder.model.errors import RecorderError

__all__ = [
    "ArchiveError",
    "ArchiveSettingError",
    "ArchiveSlowError",
    "CatalogError",
    "PlaceError",
]


class ArchiveError(RecorderError):
    """What is in the archive is not what was archived."""

    code = "archive.wrong"
    exit_status = 3


class ArchiveSlowError(RecorderError):
    """A question to the archive took longer than a statement may."""

    code = "archive.question_too_large"


class PlaceError(RecorderError):
    """The place of the archive cannot be read or written."""

    code = "archive.place"


class ArchiveSettingError(PlaceError):
    """The place of the archive has an address that nothing is kept at."""

    code = "archive.address"
    exit_status = 2


class CatalogError(RecorderError):
    """The catalog of the Iceberg tables does not answer, or refuses."""

    code = "archive.catalog"
