"""Importing audit log files: each from its beginning, and then it is over."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from recorder.intake.ports import Known, Sink
from recorder.sources.audit.exports import records_in
from recorder.sources.audit.lines import head_of, read_document
from recorder.sources.audit.reading import FileReader

__all__ = ["AuditImport"]


class AuditImport:
    """Reads audit log files once; a file that was read before adds nothing."""

    finite = True

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        on_progress: Callable[[Path, int], None],
    ) -> None:
        """Prepare.

        Args:
            paths: of the files, in the order in which they are read.
            on_progress: called behind each file with the records so far.
        """
        self._paths = paths
        self._on_progress = on_progress

    async def run(self, sink: Sink, known: Known) -> None:
        """Read every file to its end.

        Raises:
            FileNotFoundError: one is not there.
            UnreadableError: one cannot be read to its end; what came before
                was put.
            DocumentError: one is too large to be read at once.
        """
        reader = FileReader(
            sink,
            known.resume_points(),
            now=lambda: datetime.now(UTC),
            records_in=records_in,
        )
        for path in self._paths:
            document = read_document(path)
            if document is None:
                await reader.read(path, head_of(path))
            else:
                await reader.put_whole(document)
            self._on_progress(path, reader.records)
