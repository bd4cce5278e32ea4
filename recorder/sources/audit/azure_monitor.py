"""Audit records of AKS, from exports of Azure Monitor.

In storage accounts, event hubs and the table AzureDiagnostics a record is a
text, as the API server wrote it. The tables AKSAudit and AKSAuditAdmin have
its members as columns. Responses of the query API have rows beside columns.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import orjson

CATEGORIES = frozenset({"kube-audit", "kube-audit-admin"})
"""Records of other components are left out."""

MEMBERS = {
    "Level": "level",
    "AuditId": "auditID",
    "Stage": "stage",
    "RequestUri": "requestURI",
    "Verb": "verb",
    "UserAgent": "userAgent",
    "RequestReceivedTime": "requestReceivedTimestamp",
    "StageReceivedTime": "stageTimestamp",
}
"""Columns, and the members of a record that they are."""

DYNAMIC = {
    "User": "user",
    "SourceIps": "sourceIPs",
    "ObjectRef": "objectRef",
    "ResponseStatus": "responseStatus",
    "RequestObject": "requestObject",
    "ResponseObject": "responseObject",
    "Annotations": "annotations",
}
"""Columns that hold JSON, which an export may give as text."""


def records(document: Mapping[str, Any]) -> Iterator[object] | None:
    """Return the records in a document; None if it is not from Azure.

    A log of another component is None.
    """
    if isinstance(document.get("tables"), list):
        return _rows(document["tables"])
    if "category" in document and "properties" in document:
        return _logged(document["category"], document["properties"])
    if "log_s" in document:
        # A response may omit the category; the text shows what it is.
        category = document.get("Category", "kube-audit")
        return _logged(category, {"log": document["log_s"]})
    if "AuditId" in document and "Stage" in document:
        return iter([_row(document)])
    return None


def _rows(tables: list[Any]) -> Iterator[object]:
    for table in tables:
        columns = table.get("columns") if isinstance(table, dict) else None
        if not isinstance(columns, list):
            yield {"tables": str(table)[:100]}
            continue
        names = [
            str(c.get("name")) if isinstance(c, dict) else "" for c in columns
        ]
        for row in table.get("rows") or ():
            if isinstance(row, list):
                yield dict(zip(names, row, strict=False))


def _logged(category: object, properties: object) -> Iterator[object]:
    if category not in CATEGORIES:
        yield None
        return
    if isinstance(properties, str):
        with suppress(ValueError):
            properties = orjson.loads(properties)
    yield properties.get("log") if isinstance(properties, dict) else properties


def _row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    record: dict[str, Any] = {"kind": "Event", "apiVersion": "audit.k8s.io/v1"}
    for column, name in (MEMBERS | DYNAMIC).items():
        value = row.get(column)
        if value in (None, ""):
            continue
        if column in DYNAMIC and isinstance(value, str):
            # A body that was too large is a truncated text, not JSON.
            with suppress(ValueError):
                value = orjson.loads(value)
        record[name] = value
    return record
