"""Audit records of AKS, from what Azure Monitor exports of them.

In storage accounts, event hubs and the table AzureDiagnostics a record stands
as text, as the API server wrote it. The tables AKSAudit and AKSAuditAdmin have
its members as columns.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import orjson

__all__ = ["records"]

CATEGORIES = frozenset({"kube-audit", "kube-audit-admin"})
"""Those of other components are left out."""

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
"""Columns, and what they are of a record."""

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
    """Return the records of a document; None if it is not of Azure."""
    if isinstance(document.get("records"), list):
        return _each(document["records"])
    if "category" in document and "properties" in document:
        return _logged(document["category"], document["properties"])
    if "Category" in document and "log_s" in document:
        return _logged(document["Category"], {"log": document["log_s"]})
    if "AuditId" in document and "Stage" in document:
        return iter([_row(document)])
    return None


def _each(documents: list[Any]) -> Iterator[object]:
    for document in documents:
        if isinstance(document, dict) and "records" not in document:
            yield from records(document) or ()


def _logged(category: object, properties: object) -> Iterator[object]:
    if category not in CATEGORIES:
        return
    if isinstance(properties, str):
        with suppress(ValueError):
            properties = orjson.loads(properties)
    log = properties.get("log") if isinstance(properties, dict) else properties
    if isinstance(log, str):
        yield log.strip()


def _row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    record: dict[str, Any] = {"kind": "Event", "apiVersion": "audit.k8s.io/v1"}
    for column, name in (MEMBERS | DYNAMIC).items():
        value = row.get(column)
        if value in (None, ""):
            continue
        if column in DYNAMIC and isinstance(value, str):
            # A body that was too large is a text, and no JSON.
            with suppress(ValueError):
                value = orjson.loads(value)
        record[name] = value
    return record
