"""Audit records of a test cluster as frames of a tape.

Recorder gets audit records by a webhook or from the file; here they are put
between the frames that arrived when each record was written. They are
redacted by the rules of the product on the way.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from recorder.intake.redact import Redaction, RedactionRules
from recorder.intake.redact.rules import DEFAULT_PATTERNS
from recorder.model.observation import AuditRecorded
from recorder.sources.tape.lines import line_of

__all__ = ["AUDIT_OF_NODES", "audit_lines", "merged"]

AUDIT_OF_NODES: Mapping[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {
            "level": "None",
            "resources": [
                {"group": "coordination.k8s.io"},
                {"resources": ["events", "secrets", "serviceaccounts/token"]},
                {"group": "events.k8s.io"},
                {"group": "authentication.k8s.io"},
                {"group": "authorization.k8s.io"},
            ],
        },
        {
            "level": "Request",
            "resources": [
                {
                    "resources": [
                        "nodes",
                        "nodes/status",
                        "pods/eviction",
                        "pods/binding",
                    ]
                }
            ],
        },
        {"level": "Metadata"},
    ],
}
"""What an operator would keep: writes, those to nodes with their request."""

KEY = b"the corpus holds no secret of any"


def audit_lines(log: Path) -> list[bytes]:
    """Return the records of an audit log as lines of a tape."""
    redaction = Redaction(RedactionRules(patterns=DEFAULT_PATTERNS), KEY)
    lines = []
    for raw in log.read_bytes().splitlines():
        at = datetime.fromisoformat(orjson.loads(raw)["stageTimestamp"])
        record = AuditRecorded(
            observed_at=at.astimezone(UTC), event=redaction.audit(raw)
        )
        line = line_of(record)
        assert line is not None
        lines.append(line.rstrip(b"\n"))
    return lines


def merged(lines: Sequence[bytes], records: Iterable[bytes]) -> list[bytes]:
    """Put records between the frames of a tape, in order of time.

    Those from before its first frame are left out, as not received.
    """
    header, *frames = lines
    began = _at(frames[0])
    heard = deque(sorted((r for r in records if _at(r) >= began), key=_at))
    merged_lines = [header]
    for frame in frames:
        at = _at(frame)
        while heard and _at(heard[0]) < at:
            merged_lines.append(heard.popleft())
        merged_lines.append(frame)
    return [*merged_lines, *heard]


def _at(line: bytes) -> str:
    at: str = orjson.loads(line)["at"]
    return at
