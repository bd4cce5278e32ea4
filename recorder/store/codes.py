"""The numbers that the log stores for words.

Add numbers; never change or reuse one.
"""

from recorder.facts import Bearing, Mark
from recorder.model.entry import Operation
from recorder.model.fact import FactKind

OPERATION_CODES: dict[Operation, int] = {
    # Up to 3: versions of objects, which statements compare by number.
    Operation.RECOVERED: 0,
    Operation.LISTED: 1,
    Operation.ADDED: 2,
    Operation.MODIFIED: 3,
    Operation.DELETED: 4,
    Operation.ABSENT: 5,
    Operation.RENEWED: 6,
    Operation.AUDIT: 10,
    Operation.CLOUDEVENT: 11,
    Operation.POLLED: 12,
    Operation.RETENTION: 13,
    # From 100 on: what coverage reads, by an index of its own.
    Operation.REFUSED: 100,
    Operation.GAP_OPENED: 101,
    Operation.GAP_CLOSED: 102,
    Operation.EPOCH_BEGAN: 103,
    Operation.CLOCK_JUMPED: 104,
}
OPERATIONS = {code: operation for operation, code in OPERATION_CODES.items()}

SOURCE_CODES = {
    "watch": 1,
    "audit": 2,
    "cloudevents": 3,
    "slurm": 4,
    "recorder": 5,
}
SOURCES = {code: source for source, code in SOURCE_CODES.items()}

FACT_CODES: dict[FactKind, int] = {
    FactKind.APPEARED: 1,
    FactKind.VANISHED: 2,
    FactKind.DELETION_REQUESTED: 3,
    FactKind.CONDITION_CHANGED: 4,
    FactKind.LABEL_CHANGED: 5,
    FactKind.ANNOTATION_CHANGED: 6,
    FactKind.FIELD_CHANGED: 7,
    FactKind.BOOT_CHANGED: 8,
    FactKind.MACHINE_CHANGED: 9,
    FactKind.TAINTED: 10,
    FactKind.UNTAINTED: 11,
    FactKind.CORDONED: 12,
    FactKind.UNCORDONED: 13,
    FactKind.RESOURCE_CHANGED: 14,
    FactKind.LEASE_SILENT: 15,
    FactKind.BOUND: 16,
    FactKind.STARTED: 17,
    FactKind.ENDED: 18,
    FactKind.CONTAINER_ENDED: 19,
    FactKind.EVENT: 20,
    FactKind.REQUESTED: 21,
    FactKind.UNREADABLE: 22,
    FactKind.CLAIMED: 23,
}
FACTS = {code: kind for kind, code in FACT_CODES.items()}

BEARING_CODES: dict[Bearing, int] = {
    Bearing.DAILY: 0,
    Bearing.EVIDENCE: 1,
    Bearing.SIGN: 2,
    Bearing.DISRUPTION: 3,
    Bearing.PORT: 4,
}

MARK_CODES: dict[Mark, int] = {
    Mark.CREATED: 1,
    Mark.CONTACT: 2,
    Mark.OUTCOME: 3,
    Mark.PREEMPTED: 4,
    Mark.EVICTED: 5,
}

VERSION_DIGITS_MAX = 18
"""Longer numbers may not fit into a bigint, and are stored as text."""


def version_columns(text: str | None) -> tuple[int | None, str | None]:
    """Return a resource version as a number, or as text if it is none."""
    if not text:
        return None, None
    if (
        len(text) <= VERSION_DIGITS_MAX
        and text.isascii()
        and text.isdecimal()
        and (text[0] != "0" or text == "0")
    ):
        return int(text), None
    return None, text
