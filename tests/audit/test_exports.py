"""What managed clouds export of an audit log, read back as the log."""

import gzip
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from recorder.facts.classify import request_draft
from recorder.facts.classify.audit_record import read_audit
from recorder.facts.classify.requesters import requester
from recorder.model.observation import AuditRecorded
from recorder.sources.audit import AuditImport
from recorder.sources.audit.exports import (
    Cut,
    Found,
    Other,
    Record,
    Refused,
    found_in,
)
from recorder.sources.files import documents
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


def held(text: bytes) -> list[Found]:
    """Return what a file with this text holds."""
    read = io.BytesIO(text).read
    return [each for one in documents(read) for each in found_in(one)]


def records_in(text: bytes) -> list[bytes]:
    """Return its records; lines of other logs may be among them."""
    found = held(text)
    assert all(isinstance(each, Record | Other) for each in found)
    return [each.raw for each in found if isinstance(each, Record)]


def test_a_line_that_cloudwatch_exported_to_s3_is_its_record() -> None:
    line = b"2026-11-21T03:00:00.000Z " + TEXT.encode()

    assert records_in(line) == [TEXT.encode()]


def test_what_cloudwatch_cut_off_is_counted_as_cut() -> None:
    cut = EVENT | {"message": TEXT[:100]}

    assert held(orjson.dumps({"events": [cut, EVENT]})) == [
        Cut("it was cut off before it was exported"),
        Record(TEXT.encode()),
    ]


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


REFUSALS = [
    ({"kind": "Event", "apiVersion": "v1"}, "a core/v1 Event, not an audit"),
    (
        {"kind": "Event", "apiVersion": "events.k8s.io/v1"},
        "a events.k8s.io/v1 Event",
    ),
    (
        {"kind": "Pod", "apiVersion": "v1"},
        "a core/v1 Pod, not an audit record",
    ),
    (
        {"kind": "List", "items": [{"kind": "Pod", "apiVersion": "v1"}]},
        "a core/v1 Pod",
    ),
    (RECORD | {"auditID": None}, "an audit record without auditID"),
    (RECORD | {"verb": ""}, "an audit record without verb"),
    ({"@timestamp": "2026", "@ptr": "C"}, "Insights answer without @message"),
    ({"eventVersion": "1", "eventSource": "eks"}, "CloudTrail"),
    ({"output": "x", "rule": "r", "priority": "p"}, "Falco"),
    ({"kubernetes.audit.verb": "get"}, "export the documents whole"),
    (
        {
            "logName": "projects/p/logs/events",
            "resource": {},
            "jsonPayload": {"kind": "Event", "apiVersion": "v1"},
        },
        "a core/v1 Event",
    ),
    ({"events": 1}, "JSON, but not an audit record: it has events"),
    ({}, "it has no members"),
    ([[[[[[[[[[[[[[[]]]]]]]]]]]]]]], "nested too deep"),
]


@pytest.mark.parametrize(("document", "says"), REFUSALS)
def test_what_is_no_record_is_refused_by_name(
    document: object, says: str
) -> None:
    found = held(orjson.dumps(document))

    assert found
    assert all(isinstance(each, Refused) for each in found)
    assert says in str(found[0])


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_records_of_older_versions_have_a_time_of_their_own(
    version: str,
) -> None:
    record = {
        "kind": "Event",
        "apiVersion": f"audit.k8s.io/{version}",
        "metadata": {"creationTimestamp": "2026-11-21T03:00:00Z"},
        "timestamp": "2026-11-21T03:00:00Z",
        "auditID": "a",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/nodes/gpu-001",
        "verb": "get",
        "user": {"username": "alice@example.com"},
    }
    (found,) = records_in(orjson.dumps(record))

    draft = request_draft(found, observed_at=at(), source="audit")
    assert draft.occurred_at == datetime(2026, 11, 21, 3, tzinfo=UTC)


def test_rows_of_bigquery_are_the_entries_that_they_were_made_of() -> None:
    entry = log_entry("io.k8s.core.v1.nodes.patch", "core/v1/nodes/gpu-001")
    payload = entry.pop("protoPayload")
    del payload["@type"]
    row = entry | {
        "timestamp": "2026-11-21 03:00:00.000123 UTC",
        "protopayload_auditlog": payload
        | {"requestJson": '{"spec":{"unschedulable":true}}'},
    }
    (found,) = map(orjson.loads, records_in(orjson.dumps(row)))

    assert found["requestReceivedTimestamp"] == "2026-11-21T03:00:00.000123Z"
    assert found["requestObject"] == {"spec": {"unschedulable": True}}
    assert found["objectRef"]["name"] == "gpu-001"


def test_behind_a_service_account_of_google_is_a_person() -> None:
    entry = log_entry("io.k8s.core.v1.nodes.patch", "core/v1/nodes/gpu-001")
    entry["protoPayload"]["authenticationInfo"] = {
        "principalEmail": "deploy@project.iam.gserviceaccount.com",
        "serviceAccountDelegationInfo": [
            {"firstPartyPrincipal": {"principalEmail": "bob@example.com"}}
        ],
    }
    (found,) = records_in(orjson.dumps(entry))

    author = requester(read_audit(found), None)
    assert author.name == "bob@example.com"
    assert author.on_behalf_of == "deploy@project.iam.gserviceaccount.com"


CASES = Path(__file__).parent / "cases"
RECORDS = {
    "a05-gke-crd/gcloud-logging-read.json": 9,
    "a07-eks-session/audit.log": 3,
    "a08-events-dump/events.json": 0,
    "a08-events-dump/exporter.jsonl": 0,
    "a13-truncated/cut.jsonl": 1,
    "a13-truncated/empty.json": 0,
    "a13-truncated/one-cut.json": 0,
}
"""Of files that do not hold two records."""


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(CASES.rglob("*")) if p.is_file()],
    ids=lambda path: str(path.relative_to(CASES)),
)
async def test_files_as_clouds_and_collectors_write_them_are_read(
    path: Path,
) -> None:
    name, kept = str(path.relative_to(CASES)), Kept()
    source = AuditImport([path])
    await source.run(kept, kept)

    (file,) = source.files
    records = RECORDS.get(name, 2)
    assert (file.records, len(kept.records())) == (records, records)
    assert file.trouble is None
    is_whole = records > 1 or "empty" in name
    assert file.is_whole == is_whole


async def test_of_a_file_without_a_record_nothing_is_written(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "events.json", Kept()
    path.write_text('{"kind": "Event", "apiVersion": "v1"}\nx\n{"a')
    source = AuditImport([path])
    await source.run(kept, kept)

    assert not kept.seen
    assert list(source.files[0].says()) == [
        "line 1: a core/v1 Event, not an audit record",
        "line 2: a line of text, not JSON: 'x'",
        "line 3: it ends too early",
    ]


async def test_lines_that_are_refused_are_one_gap_among_the_records(
    tmp_path: Path,
) -> None:
    later = RECORD | {
        "auditID": "b",
        "requestReceivedTimestamp": "2026-11-21T05:00:00Z",
    }
    path, kept = tmp_path / "audit.log", Kept()
    path.write_text(f"{TEXT}\nx\ny\n{json.dumps(later)}\nz\n")
    source = AuditImport([path])
    await source.run(kept, kept)

    (gap,) = kept.lost()
    assert gap.since == datetime(2026, 11, 21, 3, 0, 0, 1, tzinfo=UTC)
    assert gap.observed_at == datetime(2026, 11, 21, 5, tzinfo=UTC)
    assert "lines 2-3: a line of text" not in gap.proved  # each its text
    assert gap.proved == (
        "audit.log: line 2: a line of text, not JSON: 'x'; line 3: a line of"
        " text, not JSON: 'y'; line 5: a line of text, not JSON: 'z'"
    )
    assert source.files[0].refused == 3


async def test_a_record_keeps_the_time_at_which_it_was_made(
    tmp_path: Path,
) -> None:
    undated = {k: v for k, v in RECORD.items() if "imestamp" not in k}
    ahead = RECORD | {"requestReceivedTimestamp": "2999-01-01T00:00:00Z"}
    path, kept = tmp_path / "audit.log", Kept()
    path.write_text("\n".join(map(json.dumps, (RECORD, undated, ahead))))
    began = datetime.now(UTC)
    source = AuditImport([path])
    await source.run(kept, kept)

    times = [o.observed_at for o in kept.seen if isinstance(o, AuditRecorded)]
    assert times[0] == datetime(2026, 11, 21, 3, 0, 0, 1, tzinfo=UTC)
    assert all(began <= time <= datetime.now(UTC) for time in times[1:])
    assert source.files[0].undated == 1


async def test_records_of_another_cluster_are_refused(tmp_path: Path) -> None:
    namespace = RECORD | {
        "verb": "get",
        "objectRef": {"resource": "namespaces", "name": "kube-system"},
        "responseObject": {
            "kind": "Namespace",
            "apiVersion": "v1",
            "metadata": {"name": "kube-system", "uid": "other"},
        },
    }
    path = tmp_path / "audit.log"
    path.write_text(f"{TEXT}\n{json.dumps(namespace)}\n")
    troubles = []
    for uid, records in (("other", 2), ("mine", 0)):
        kept, source = Kept(), AuditImport([path], cluster_uid=uid)
        await source.run(kept, kept)
        assert len(kept.records()) == records
        troubles.append(str(source.files[0].trouble))

    assert "is other, that of this log mine" in troubles[1]


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
        source = AuditImport([path])
        await source.run(kept, kept)

    assert [orjson.loads(one) for one in kept.records()] == [RECORD] * 3


async def test_documents_that_begin_alike_are_both_imported(
    tmp_path: Path,
) -> None:
    paths, kept = [tmp_path / "1.json", tmp_path / "2.json"], Kept()
    for path in paths:
        more = RECORD | {"auditID": path.name}
        path.write_text(json.dumps([more], indent=2))

    source = AuditImport(paths)
    await source.run(kept, kept)

    assert len(kept.records()) == 2
