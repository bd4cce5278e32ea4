"""Audit records of GKE, from the entries of Google Cloud Logging.

A method is the group backwards, version, resource, subresource and verb:
``io.k8s.core.v1.nodes.patch``, ``com.nvidia.v1.nvidiadrivers.create``; the
object is in ``resourceName``, like a path of the API. The groups of the user
are not kept there, and codes are those of gRPC. Rows of BigQuery hold the same
under other names, with bodies as text.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

import orjson

AUDIT_LOG = "type.googleapis.com/google.cloud.audit.AuditLog"
SERVICE = "k8s.io"
METHODS = "io.k8s."

HTTP = {
    0: 200,
    1: 499,
    3: 400,
    4: 504,
    5: 404,
    6: 409,
    7: 403,
    8: 429,
    9: 400,
    10: 409,
    11: 400,
    12: 501,
    14: 503,
    16: 401,
}
"""The HTTP codes of gRPC codes, as Google maps them; 500 for the others."""

BIGQUERY = "protopayload_auditlog"
BODIES = {"requestJson": "request", "responseJson": "response"}
EVENTS = "/logs/events"


def records(document: Mapping[str, Any]) -> Iterator[object] | None:
    """Return the record in a log entry; None if it has none.

    Entries of other logs are None. Events that Cloud Logging keeps are
    returned as such: they belong to the cluster, but are not audit records.
    """
    if BIGQUERY in document:
        document = _unfolded(document)
    elif "logName" not in document or "resource" not in document:
        return None
    event = document.get("jsonPayload")
    if str(document.get("logName")).endswith(EVENTS) and event:
        return iter([event])
    return iter([_record(document)])


def _unfolded(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row of BigQuery as the log entry that it was made from."""
    payload = {"@type": AUDIT_LOG, **_dict(row[BIGQUERY])}
    for column, name in BODIES.items():
        body = payload.pop(column, None)
        if isinstance(body, str):
            with suppress(ValueError):
                payload[name] = orjson.loads(body)
    at = row.get("timestamp")
    if isinstance(at, str):
        with suppress(ValueError):
            text = at.removesuffix(" UTC").removesuffix("Z")
            at = f"{datetime.fromisoformat(text).isoformat()}Z"
    return {**row, "protoPayload": payload, "timestamp": at}


def _record(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    payload = _dict(entry.get("protoPayload"))
    method = str(payload.get("methodName", ""))
    service = payload.get("serviceName", SERVICE)
    verb = method.rpartition(".")[2]
    path = str(payload.get("resourceName", ""))
    is_one = method.startswith(METHODS) or _reference(path, verb) is not None
    if payload.get("@type") != AUDIT_LOG or service != SERVICE or not is_one:
        return None
    operation = _dict(entry.get("operation"))
    asked = _dict(payload.get("requestMetadata"))
    record = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": _level(payload),
        "auditID": operation.get("id") or entry.get("insertId"),
        "stage": _stage(operation),
        "requestURI": _address(path),
        "verb": verb,
        "user": _user(_dict(payload.get("authenticationInfo"))),
        "sourceIPs": [asked["callerIp"]] if asked.get("callerIp") else None,
        "userAgent": asked.get("callerSuppliedUserAgent"),
        "objectRef": _reference(path, verb),
        "responseStatus": _status(payload),
        "requestObject": payload.get("request"),
        "responseObject": payload.get("response"),
        "requestReceivedTimestamp": entry.get("timestamp"),
        "stageTimestamp": entry.get("timestamp"),
        "annotations": entry.get("labels"),
    }
    return {name: value for name, value in record.items() if value is not None}


def _user(who: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the user; for a service account, also the login that used it."""
    login = who.get("principalEmail") or who.get("principalSubject")
    user: dict[str, Any] = {"username": login}
    delegated = who.get("serviceAccountDelegationInfo")
    for one in delegated if isinstance(delegated, list) else ():
        first = _dict(_dict(one).get("firstPartyPrincipal"))
        name = first.get("principalEmail") or _dict(one).get(
            "principalSubject"
        )
        if isinstance(name, str):
            return user | {"extra": {"sessionName": [name]}}
    return user


def _level(payload: Mapping[str, Any]) -> str:
    if "response" in payload:
        return "RequestResponse"
    return "Request" if "request" in payload else "Metadata"


def _stage(operation: Mapping[str, Any]) -> str:
    """Return the stage; a long-running request has an entry for each end."""
    begins_only = operation.get("first") and not operation.get("last")
    return "ResponseStarted" if begins_only else "ResponseComplete"


def _address(path: str) -> str:
    if not path:
        return ""
    group, _, rest = path.partition("/")
    return f"/api/{rest}" if group == "core" else f"/apis/{path}"


def _reference(path: str, verb: str) -> Mapping[str, str] | None:
    """Return the object of a request.

    ``core/v1/namespaces/train/pods/a/binding``, ``core/v1/nodes/gpu-001``.
    """
    parts = path.split("/")
    if len(parts) < 3:  # noqa: PLR2004 - group, version, resource
        return None
    group, version, *rest = parts
    reference = {"apiVersion": version}
    if group != "core":
        reference["apiGroup"] = group
    match rest:
        case ["namespaces", namespace, resource, *more] if not (
            group == "core" and resource in {"status", "finalize"}
        ):
            reference |= {"namespace": namespace, "resource": resource}
        case [resource, *more]:
            reference["resource"] = resource
            if resource == "namespaces" and more:
                reference["namespace"] = more[0]
        case _:
            return None
    if more and not (verb == "create" and len(more) == 1 and not more[0]):
        reference["name"] = more[0]
    if len(more) > 1:
        reference["subresource"] = more[1]
    return reference


def _status(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return status and code; the response's own code is the exact one."""
    response = _dict(payload.get("response"))
    if isinstance(response.get("code"), int):
        return {"metadata": {}, "code": response["code"]}
    status = _dict(payload.get("status"))
    said = status.get("code") or 0
    code = HTTP.get(said, 500) if isinstance(said, int) else 500
    message = status.get("message")
    return {"metadata": {}, "code": code} | (
        {"message": message} if message else {}
    )


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
