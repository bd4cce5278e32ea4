"""What managed clouds export of an audit log, read back as the log."""

import gzip
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from recorder.classify import request_draft
from recorder.sources.audit import AuditImport, lines
from recorder.sources.audit.exports import records_in
from recorder.sources.audit.lines import DocumentError
from tests.audit.receiving import a_record
from tests.audit.test_tailing import Kept
from tests.support.builders import at

RECORD = {
    "kind": "Event",
    "apiVersion": "audit.k8s.io/v1",
    **a_record("a", annotations={"authorization.k8s.io/decision": "allow"}),
}
TEXT = json.dumps(RECORD)

CLOUDWATCH = "kube-apiserver-audit-4d5f"
EVENT = {"id": "3", "timestamp": 1795230000000, "message": TEXT}
OTHER = {"id": "4", "timestamp": 1795230000000, "message": "I0101 started"}

DIAGNOSTIC = {
    "time": "2026-11-21T03:00:00Z",
    "resourceId": "/SUBSCRIPTIONS/1/RESOURCEGROUPS/G/PROVIDERS/X/C",
    "category": "kube-audit",
    "operationName": (
        "Microsoft.ContainerService/managedClusters/diagnosticLogs/Read"
    ),
    "properties": {"log": TEXT + "\n", "stream": "stdout", "pod": "k-1"},
}
ROW = {
    "TimeGenerated": "2026-11-21T03:00:01Z",
    "Level": "Metadata",
    "AuditId": "a",
    "Stage": "ResponseComplete",
    "RequestUri": RECORD["requestURI"],
    "Verb": "delete",
    "User": RECORD["user"],
    "SourceIps": json.dumps(RECORD["sourceIPs"]),
    "UserAgent": "",
    "ObjectRef": json.dumps(RECORD["objectRef"]),
    "ResponseStatus": RECORD["responseStatus"],
    "RequestReceivedTime": RECORD["requestReceivedTimestamp"],
    "StageReceivedTime": RECORD["stageTimestamp"],
    "Annotations": RECORD["annotations"],
    "PodName": "kube-apiserver-1",
    "Type": "AKSAudit",
}

EXPORTS: dict[str, Any] = {
    "a record": RECORD,
    "a batch": {
        "kind": "EventList",
        "apiVersion": "audit.k8s.io/v1",
        "items": [RECORD],
    },
    "EKS, filter-log-events": {
        "events": [
            {"logStreamName": CLOUDWATCH, "eventId": "3", **EVENT},
            {"logStreamName": "authenticator-1", "eventId": "4", **OTHER},
        ],
        "searchedLogStreams": [],
    },
    "EKS, a subscription": {
        "messageType": "DATA_MESSAGE",
        "owner": "1",
        "logGroup": "/aws/eks/c/cluster",
        "logStream": CLOUDWATCH,
        "logEvents": [EVENT],
    },
    "AKS, a storage account": DIAGNOSTIC,
    "AKS, an event hub": {
        "records": [
            DIAGNOSTIC,
            DIAGNOSTIC | {"category": "kube-scheduler"},
        ]
    },
    "AKS, properties as text": DIAGNOSTIC
    | {"properties": json.dumps({"log": TEXT})},
    "AKS, AzureDiagnostics": [{"Category": "kube-audit", "log_s": TEXT}],
    "AKS, AKSAudit": [ROW],
}


DEEP = (
    b'{"records":[{"AuditId":"a","Stage":' + b"[" * 900 + b"]" * 900 + b"}]}"
)


def log_entry(method: str, path: str, **payload: Any) -> dict[str, Any]:
    return {
        "insertId": "1f2e3d",
        "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity",
        "operation": {
            "first": True,
            "id": "5f6a5c3b-8c1a-4a54-8f67-0a7f0bf4b111",
            "last": True,
            "producer": "k8s.io",
        },
        "labels": {"authorization.k8s.io/decision": "allow"},
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
            "authenticationInfo": {"principalEmail": "alice@example.com"},
            "authorizationInfo": [
                {"granted": True, "permission": method, "resource": path}
            ],
            "methodName": method,
            "requestMetadata": {
                "callerIp": "203.0.113.7",
                "callerSuppliedUserAgent": "kubectl/v1.33.0 (linux/amd64)",
            },
            "resourceName": path,
            "serviceName": "k8s.io",
            "status": {"code": 0},
            **payload,
        },
        "receiveTimestamp": "2026-11-21T03:00:04.1Z",
        "resource": {
            "labels": {"cluster_name": "c", "location": "l"},
            "type": "k8s_cluster",
        },
        "timestamp": "2026-11-21T03:00:00.000123Z",
    }


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_gives_the_record_that_the_api_server_wrote(
    name: str,
) -> None:
    (found,) = records_in(orjson.dumps(EXPORTS[name]))

    assert orjson.loads(found) == RECORD


def test_a_line_that_cloudwatch_exported_to_s3_is_its_record() -> None:
    line = b"2026-11-21T03:00:00.000Z " + TEXT.encode()

    assert records_in(line) == [TEXT.encode()]


def test_what_cloudwatch_cut_off_is_handed_on_as_it_is() -> None:
    cut = EVENT | {"message": TEXT[:100]}

    found = records_in(orjson.dumps({"events": [cut]}))

    assert found == [TEXT[:100].encode()]


def test_a_body_that_azure_left_out_is_said_to_be() -> None:
    row = ROW | {"RequestObject": "skipped-too-big-size-object"}

    (found,) = records_in(orjson.dumps(row))

    assert (
        orjson.loads(found)["requestObject"] == "skipped-too-big-size-object"
    )


@pytest.mark.parametrize(
    ("method", "path", "what"),
    [
        (
            "io.k8s.core.v1.nodes.patch",
            "core/v1/nodes/gpu-001",
            "patch Node  gpu-001",
        ),
        (
            "io.k8s.core.v1.pods.eviction.create",
            "core/v1/namespaces/train/pods/a/eviction",
            "create/eviction Pod train a",
        ),
        (
            "io.k8s.core.v1.namespaces.delete",
            "core/v1/namespaces/train",
            "delete Namespace train train",
        ),
        (
            "io.k8s.apps.v1.deployments.scale.patch",
            "apps/v1/namespaces/train/deployments/web/scale",
            "patch/scale Deployment train web",
        ),
        (
            "io.k8s.authorization.rbac.v1.clusterroles.create",
            "rbac.authorization.k8s.io/v1/clusterroles/x",
            "create clusterroles  x",
        ),
        (
            "io.k8s.core.v1.namespaces.finalize.update",
            "core/v1/namespaces/train/finalize",
            "update/finalize Namespace train train",
        ),
    ],
)
def test_an_entry_of_cloud_logging_is_about_the_same_object(
    method: str, path: str, what: str
) -> None:
    (found,) = records_in(orjson.dumps(log_entry(method, path)))
    draft = request_draft(found, observed_at=at(), source="audit")

    of = draft.identity
    assert of is not None
    assert f"{draft.reason} {of.kind} {of.namespace} {of.name}" == what
    assert draft.actor == "alice@example.com"
    assert draft.occurred_at is not None
    assert draft.occurred_at.microsecond == 123


def test_bodies_and_codes_of_cloud_logging_are_those_of_the_record() -> None:
    response = {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": "gpu-001", "uid": "u", "resourceVersion": "7"},
    }
    done = log_entry(
        "io.k8s.core.v1.nodes.patch",
        "core/v1/nodes/gpu-001",
        request={"spec": {"unschedulable": True}},
        response=response,
    )
    denied = log_entry(
        "io.k8s.core.v1.nodes.delete",
        "core/v1/nodes/gpu-001",
        status={"code": 7, "message": "forbidden"},
    )
    begun = denied | {"operation": {"id": "x", "first": True}}

    made, refused, lasting = (
        orjson.loads(one)
        for entry in (done, denied, begun)
        for one in records_in(orjson.dumps(entry))
    )

    draft = request_draft(orjson.dumps(made), observed_at=at(), source="audit")
    assert draft.resource_version == "7"
    assert draft.identity is not None
    assert draft.identity.uid == "u"
    assert made["level"] == "RequestResponse"
    assert made["responseStatus"]["code"] == 200
    assert made["sourceIPs"] == ["203.0.113.7"]
    assert refused["level"] == "Metadata"
    assert refused["responseStatus"]["code"] == 403
    assert lasting["stage"] == "ResponseStarted"


@pytest.mark.parametrize(
    "entry",
    [
        {
            "logName": "projects/p/logs/stdout",
            "resource": {},
            "jsonPayload": 1,
        },
        log_entry(
            "google.container.v1.ClusterManager.SetLabels", "projects/p"
        ),
    ],
)
def test_entries_of_other_logs_are_left_out(entry: dict[str, Any]) -> None:
    assert records_in(orjson.dumps(entry)) == []


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"1", b'"x"', b"{}", b'{"events":1}', b"\xff", DEEP],
)
def test_what_is_no_export_is_handed_on_as_it_is(line: bytes) -> None:
    assert records_in(line) == [line]


@pytest.mark.parametrize(
    "content",
    [
        b"\n".join([TEXT.encode()] * 3) + b"\n",
        b"\n".join([TEXT.encode()] * 3),
        json.dumps([RECORD] * 3, indent=2).encode(),
        json.dumps({"events": [EVENT] * 3}, indent=4).encode(),
        json.dumps({"events": [EVENT] * 3}).encode(),
        gzip.compress(json.dumps([RECORD] * 3, indent=2).encode()),
        b"\n".join([b"2026-11-21T03:00:00.000Z " + TEXT.encode()] * 3),
    ],
)
async def test_a_file_is_imported_whole_and_once(
    tmp_path: Path, content: bytes
) -> None:
    path, kept = tmp_path / "export", Kept()
    path.write_bytes(content)

    for _ in range(2):
        source = AuditImport([path], on_progress=lambda _, __: None)
        await source.run(kept, kept)

    assert [orjson.loads(one) for one in kept.records()] == [RECORD] * 3


async def test_documents_that_begin_alike_are_both_imported(
    tmp_path: Path,
) -> None:
    paths, kept = [tmp_path / "1.json", tmp_path / "2.json"], Kept()
    for path in paths:
        more = RECORD | {"auditID": path.name}
        path.write_text(json.dumps([more], indent=2))

    source = AuditImport(paths, on_progress=lambda _, __: None)
    await source.run(kept, kept)

    assert len(kept.records()) == 2


async def test_a_document_that_is_too_large_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "DOCUMENT_BYTES_MAX", 100)
    path, kept = tmp_path / "large.json", Kept()
    path.write_text(json.dumps([RECORD], indent=2))

    source = AuditImport([path], on_progress=lambda _, __: None)
    with pytest.raises(DocumentError, match=r"large\.json is one document"):
        await source.run(kept, kept)
