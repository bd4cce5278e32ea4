"""Dumps: what people saved of a cluster, as a source.

Files, folders and archives of `kubectl get`, must-gather, `kubectl
cluster-info dump`, support bundles and exported Events. What is in them is
recognized by content. An object is known as it was at one time, the dump's;
an Event, which is a record with a time of its own, as of that time. Nothing
here proves that anything is complete.
"""

from recorder.sources.dumps.examining import Examined, examine
from recorder.sources.dumps.importing import DumpImport
from recorder.sources.dumps.shelf import Shelf
from recorder.sources.dumps.things import Things

__all__ = ["DumpImport", "Examined", "Shelf", "Things", "examine"]
