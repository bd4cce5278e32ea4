"""Numbers that stand in the log for words.

They are stored: they may be added to, never changed or reused.
"""

from recorder.model.entry import Operation

__all__ = [
    "OPERATIONS",
    "OPERATION_CODES",
    "SOURCES",
    "SOURCE_CODES",
]

OPERATION_CODES: dict[Operation, int] = {
    Operation.LISTED: 1,
    Operation.ADDED: 2,
    Operation.MODIFIED: 3,
    Operation.DELETED: 4,
    Operation.ABSENT: 5,
    Operation.RENEWED: 6,
    Operation.AUDIT: 10,
    Operation.CLOUDEVENT: 11,
    Operation.POLLED: 12,
    # From 100 on: what coverage reads, through an index of its own.
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
