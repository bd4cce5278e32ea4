"""Errors of an archive."""

from recorder.model.errors import RecorderError


class ArchiveError(RecorderError):
    """The content of the archive differs from what was archived."""

    code = "archive.wrong"
    exit_status = 3


class ArchiveSlowError(RecorderError):
    """A statement on the archive took longer than allowed."""

    code = "archive.question_too_large"


class PlaceError(RecorderError):
    """The place of the archive cannot be read or written."""

    code = "archive.place"


class ArchiveSettingError(PlaceError):
    """The address of the archive or of its catalog cannot be used."""

    code = "archive.address"
    exit_status = 2


class CatalogError(RecorderError):
    """The catalog of the Iceberg tables does not answer, or refuses."""

    code = "archive.catalog"
