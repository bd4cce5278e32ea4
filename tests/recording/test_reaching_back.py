"""What a real cluster still knows of what was not watched."""

import asyncio
import os
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from recorder.model.entry import Operation
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.demo import train
from tests.cluster.happenings import HAPPENINGS
from tests.cluster.machines import gpu_machines
from tests.support.postgres import Database
from tests.support.recorded import Recorded

pytestmark = pytest.mark.timeout(240)

PATIENT = "2m"
"""For a walk to end on a busy machine too, where the default may be over."""

JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "short", "namespace": "default"},
    "spec": {
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "c", "image": "example.com/c"}],
            }
        }
    },
}


async def annotate(cluster: Cluster, node: str, value: str) -> int:
    version = await cluster.kubectl(
        "annotate", "node", node, f"step={value}", "--overwrite", "-o",
        "jsonpath={.metadata.resourceVersion}",
    )  # fmt: skip
    return int(version)


async def test_what_the_watch_cache_forgot_is_read_afterwards(
    tmp_path: Path, database: Database
) -> None:
    """And the API server has just started."""
    options = Options(machines=gpu_machines(2))
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        recorded = await Recorded.begun(cluster, database, tmp_path)
        await annotate(cluster, "gpu-001", "before")
        await recorded.settle(2)
        await recorded.kill()
        for number in range(5):
            await annotate(cluster, "gpu-001", str(number))
        await cluster.api.create("/apis/batch/v1/namespaces/default/jobs", JOB)
        await cluster.kubectl("delete", "job", "short", "--wait=false")
        await cluster.kubectl("create", "namespace", "brief")
        await cluster.kubectl("delete", "namespace", "brief")
        await cluster.api_server.kill()
        await cluster.api_server.start()
        await recorded.start(reach_back=PATIENT)
        done = await annotate(cluster, "gpu-001", "after")
        # Else a bookmark says so, which comes once a minute.
        await cluster.kubectl("label", "namespace", "default", "step=after")
        await recorded.until_seen(done, "v1/nodes", "v1/namespaces")
        await recorded.settle(2)
        await recorded.stop()

        assert await recorded.differences(through=done) == []
        log = await recorded.log()
        steps = [
            orjson.loads(draft.raw)["metadata"]["annotations"]["step"]
            for _, draft in log.entries
            if draft.operation is Operation.RECOVERED
            and draft.resource == "v1/nodes"
            and b'"step"' in draft.raw
        ]
        assert {"0", "1", "2", "3"} <= set(steps)
        closed = {
            draft.resource: orjson.loads(draft.raw)
            for _, draft in log.entries
            if draft.operation is Operation.GAP_CLOSED
        }
        assert closed["v1/nodes"]["possible"] == []
        assert closed["v1/namespaces"]["possible"] == []
        names = {
            draft.identity.name
            for _, draft in log.entries
            if draft.operation is Operation.RECOVERED
            and draft.identity is not None
        }
        assert {"brief", "short"} <= names


async def test_an_event_leads_to_a_pod_that_came_and_went(
    tmp_path: Path, database: Database
) -> None:
    """In a gap with more other writes than can be read."""
    core = "/api/v1/namespaces/default"
    async with Cluster.start(tmp_path / "cluster", Options()) as cluster:
        recorded = await Recorded.begun(cluster, database, tmp_path)
        await recorded.settle(2)
        await recorded.kill()
        await much_else(cluster, 150)
        pod: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "brief", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "example.com/c"}]},
        }
        made = await cluster.api.create(f"{core}/pods", pod)
        about = {"kind": "Pod", "apiVersion": "v1", **made["metadata"]}
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "brief.1", "namespace": "default"},
            "involvedObject": {
                field: about[field]
                for field in ("kind", "apiVersion", "namespace", "name", "uid")
            },
            "reason": "FailedScheduling",
        }
        await cluster.api.create(f"{core}/events", event)
        await cluster.kubectl("delete", "pod", "brief", "--now")
        await much_else(cluster, 450)
        await cluster.api_server.kill()
        await cluster.api_server.start()
        await recorded.start(reach_back=PATIENT)
        pod["metadata"] = {"name": "after", "namespace": "default"}
        after = await cluster.api.create(f"{core}/pods", pod)
        done = int(after["metadata"]["resourceVersion"])
        await recorded.until_seen(done, "v1/pods")
        await recorded.stop()

        assert await recorded.differences(through=done) == []
        log = await recorded.log()
        found = [
            draft.operation
            for _, draft in log.entries
            if draft.identity is not None
            and (draft.identity.kind, draft.identity.name) == ("Pod", "brief")
        ]
        assert found[-1] is Operation.ABSENT
        assert Operation.RECOVERED in found


async def much_else(cluster: Cluster, count: int) -> None:
    """Write while nothing records."""
    core = "/api/v1/namespaces/default/configmaps"
    for _ in range(count):
        name = {"generateName": "much-"}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": name}
        await cluster.api.create(core, body)


async def test_a_first_start_records_the_minutes_before_it(
    tmp_path: Path, database: Database
) -> None:
    options = Options(machines=gpu_machines(2))
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        await annotate(cluster, "gpu-001", "first")
        await annotate(cluster, "gpu-001", "second")
        await asyncio.sleep(1)
        recorded = await Recorded.begun(cluster, database, tmp_path)
        await recorded.stop()

        assert await recorded.differences() == []
        log = await recorded.log()
        found = [
            orjson.loads(draft.raw)["metadata"]
            .get("annotations", {})
            .get("step")
            for _, draft in log.entries
            if draft.operation is Operation.RECOVERED
            and draft.identity is not None
            and draft.identity.name == "gpu-001"
            and draft.resource == "v1/nodes"
        ]
        assert "first" in found


async def test_a_crash_before_the_first_start_is_explained(
    tmp_path: Path, database: Database
) -> None:
    """Not recorded, and yet known: what, when, and which Job it hit.

    Also of a dump, where less is known.
    """
    options = Options(machines=gpu_machines(3, racks=3))
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        await train(cluster)
        await HAPPENINGS["crash"](cluster, "gpu-002", print)
        booted = cluster.machines["gpu-002"].boot_id
        paths = await save(cluster, tmp_path)
        recorded = await Recorded.begun(cluster, database, tmp_path)
        await recorded.settle()

        why = await asked(database, "why", "node/gpu-002")
        hit = await asked(database, "impact", "node/gpu-002")
        await recorded.stop()

    verdict = why["verdicts"][-1]
    assert verdict["happened"] == "reboot"
    assert verdict["boot_id_after"] == booted
    assert verdict["mode"] == "abrupt"
    (stream,) = {gap["reason"] for gap in why["coverage"]["gaps"]}
    assert stream == "recording started later"
    began = datetime.fromisoformat(why["coverage"]["gaps"][0]["to"])
    after = datetime.fromisoformat(verdict["between"][1])
    assert timedelta() < began - after
    assert [w["name"] for w in hit["workloads"]] == ["llm-pretrain"]
    for path in paths:
        await check_saved(path, database, booted)


async def save(cluster: Cluster, folder: Path) -> tuple[Path, Path]:
    """Save a cluster as people do, by kubectl alone, in two ways."""
    dump, listed = folder / "dump", folder / "all.yaml"
    await cluster.kubectl(
        "cluster-info", "dump", "--all-namespaces",
        f"--output-directory={dump}",
    )  # fmt: skip
    kinds = "nodes,pods,jobs,events,namespaces"
    listed.write_text(await cluster.kubectl("get", kinds, "-A", "-o", "yaml"))
    return dump, listed


async def check_saved(path: Path, database: Database, booted: str) -> None:
    """Check that a crash is found in what was saved, and nothing else."""
    added = await asked(database, "import", str(path))
    for one in added["inputs"]:
        refused = [file["refused"] + file["cut"] for file in one["files"]]
        assert not any(refused)
    log = ("--log", str(added["log"]))
    why = await asked(database, "why", "node/gpu-002", *log)
    (verdict,) = why["verdicts"]
    assert verdict["happened"] == "reboot"
    assert verdict["boot_id_after"] == booted
    # Whether it had been drained before is not in a dump.
    assert verdict["mode"] == "unknown"
    assert not why["coverage"]["complete"]
    incidents = await asked(database, "incidents", *log)
    nodes = [one["nodes"] for one in incidents["incidents"]]
    assert nodes == [["gpu-002"]]


async def asked(database: Database, *words: str) -> dict[str, Any]:
    """Run the command line; its exit status is 4 here."""
    role = "writer" if words[0] == "import" else "reader"
    where = {"RECORDER_DATABASE_URL": database.dsn(role)}
    if role == "writer":
        where["RECORDER_DATA_DIR"] = f"{words[-1]}.data"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "recorder",
        *words,
        "-o",
        "json",
        env={**os.environ, **where},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert process.returncode in {0, 4}
    answer: dict[str, Any] = orjson.loads(output)
    return answer
