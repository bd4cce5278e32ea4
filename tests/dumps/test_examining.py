"""What a file holds is recognized by content, counted, and refused by name."""

import gzip
import io
import json
import os
import stat
import tarfile
import tracemalloc
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recorder.model import zstd
from recorder.sources.dumps import Examined, Shelf, Things, examine
from recorder.sources.dumps.shelf import Placed
from recorder.sources.dumps.things import event_moment
from recorder.sources.files import splitting, unpacking
from tests.dumps.saved import as_inspected, as_listed, demo, packed

OWN_CASES = Path(__file__).parent / "cases"
CASES = Path(__file__).parents[1] / "audit/cases"
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def everything(group: str, plural: str, kind: str) -> bool:
    del kind
    return (group, plural) not in {("", "secrets"), ("", "configmaps")}


def looked(*paths: Path) -> tuple[list[Examined], list[Placed], Things]:
    things = Things(everything)
    with Shelf() as shelf:
        done = [
            one
            for number, path in enumerate(paths)
            for one in examine(path, shelf, number, things, now=NOW)
            if one.is_done
        ]
        return done, [*shelf.placed()], things


def pod(name: str, version: int = 5, **more: Any) -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": "train",
        "uid": f"uid-{name}",
        "resourceVersion": str(version),
        "creationTimestamp": "2026-11-20T10:00:00Z",
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "main"}]},
        **more,
    }


def event(name: str, at: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "uid": f"uid-{name}",
                     "resourceVersion": "7"},
        "involvedObject": {"kind": "Node", "name": "gpu-1", "uid": "gpu-1"},
        "reason": "NodeNotReady",
        "source": {"component": "node-controller"},
        "lastTimestamp": at,
        **more,
    }  # fmt: skip


def kindless(document: dict[str, Any]) -> dict[str, Any]:
    named = {"apiVersion", "kind"}
    return {k: v for k, v in document.items() if k not in named}


AT = "2026-11-20T10:05:00Z"
ONE_EVENT = event("a", AT)


@pytest.mark.parametrize(
    ("text", "objects", "events"),
    [
        (json.dumps(pod("a")), 1, 0),
        (as_listed([pod("a"), pod("b"), ONE_EVENT]), 2, 1),
        (json.dumps(pod("a"), indent=2) + json.dumps(pod("b")), 2, 0),
        (f"{json.dumps(ONE_EVENT)}\n{json.dumps(event('b', AT))}\n", 0, 2),
        # The list of kubectl cluster-info dump: its items have no kind.
        (
            json.dumps({
                "kind": "PodList",
                "apiVersion": "v1",
                "metadata": {"resourceVersion": "9"},
                "items": [kindless(pod("a"))],
            }),
            1, 0,
        ),
        # kubernetes-event-exporter: an Event without a kind, in a wrapper.
        (
            json.dumps(kindless(ONE_EVENT) | {"clusterName": "prod"}),
            0, 1,
        ),
        (json.dumps({"log": json.dumps(ONE_EVENT) + "\n", "stream": "stdout",
                     "time": AT}), 0, 1),
        (json.dumps({"events": [{"message": json.dumps(ONE_EVENT)}]}), 0, 1),
        (
            json.dumps(event("c", AT, apiVersion="events.k8s.io/v1",
                             note="it is gone", eventTime=AT)),
            0, 1,
        ),
    ],
)  # fmt: skip
def test_objects_and_events_are_recognized_in_what_tools_write(
    text: str, objects: int, events: int, tmp_path: Path
) -> None:
    path = tmp_path / "saved"
    path.write_text(text)

    (found,), placed, _ = looked(path)

    assert (found.total.objects, found.total.events) == (objects, events)
    assert (found.total.refused, found.total.cut) == (0, 0)
    assert len(placed) == objects + events


YAML = """---
# written by kubectl
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: a
    namespace: train
    resourceVersion: "5"
    labels: {size: "0644", on: "true"}
  spec:
    containers:
    - name: main
      command: [sh, -c, |
        sleep 1
        ]
    priority: 0
    enabled: true
- metadata: {name: b, namespace: train}
  spec: {containers: []}
kind: List
---
apiVersion: v1
kind: Namespace
metadata: {name: kube-system, uid: 6844405a-c655-4ed2-b435-1287646cbf0e}
"""


def test_yaml_is_read_item_by_item_as_the_api_server_reads_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(
        YAML.replace("[sh, -c, |\n        sleep 1\n        ]", "[sh]")
    )

    (found,), placed, things = looked(path)

    assert found.total.objects == 3
    assert things.cluster_uids == {"6844405a-c655-4ed2-b435-1287646cbf0e"}
    first = next(json.loads(p.raw) for p in placed if p.uid == "train/a")
    assert first["metadata"]["labels"] == {"size": "0644", "on": "true"}
    assert (first["spec"]["priority"], first["spec"]["enabled"]) == (0, True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("apiVersion: v1\nkind: &a Pod\nmetadata: {name: *a}\n", "aliases"),
        ("kind: Pod\nmetadata: {name: a\n", "not YAML from here"),
        ("kind: Pod\nmetadata: " + "[" * 100 + "]" * 100, "nested"),
        ("kind: Pod\n? [a]\n: b\n", "a key is not a text"),
        ('{"kind": "Pod", "apiVersion": "v1"', "ends too early"),
        ("core dumped\n", "a line of text, not JSON"),
        (
            json.dumps(pod("a", apiVersion="../../etc/v1")),
            "no kind of Kubernetes",
        ),
    ],
)
def test_what_is_nothing_of_that_is_refused_by_name(
    text: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "odd"
    path.write_text(text)

    (found,), placed, _ = looked(path)

    (file,) = found.files
    assert why in " ".join(file.says())
    assert not placed


def test_secrets_are_left_out_by_kind(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    secret = pod("s", kind="Secret", data={"token": "c2VjcmV0"})
    helm = secret | {"type": "helm.sh/release.v1"}
    path.write_text(as_listed([secret, helm, pod("a")]))

    (found,), placed, _ = looked(path)

    assert found.total.left_out == {"Secret": 2}
    assert b"c2VjcmV0" not in b"".join(p.raw for p in placed)
    assert len(placed) == 1


def test_a_dump_has_the_time_of_its_own_files(tmp_path: Path) -> None:
    saved = demo()
    archive = packed(as_inspected(saved), tmp_path / "must-gather.tar.gz")

    (found,), placed, things = looked(archive)

    assert found.layout == "must-gather"
    assert found.at == saved.at
    assert found.dated_by.endswith("/timestamp")
    count = sum(map(len, saved.objects.values()))
    assert found.total.objects + found.total.events == count == len(placed)
    assert not found.total.refused
    assert found.unknown == 3
    assert things.kubernetes.startswith("v1.")
    assert [p.at for p in placed] == sorted(p.at for p in placed)


def test_without_it_that_of_the_newest_thing_in_it(tmp_path: Path) -> None:
    path = tmp_path / "pods.json"
    expires = {"certificate": {"notAfter": "2027-01-01T00:00:00Z"}}
    ready = [{"type": "Ready", "lastTransitionTime": "2026-11-20T10:07:00Z"}]
    path.write_text(
        as_listed([
            pod("a", status={"conditions": ready} | expires),
            event("late", "2026-12-24T00:00:00Z"),
        ])
    )  # fmt: skip

    (found,), placed, _ = looked(path)

    at = datetime(2026, 11, 20, 10, 7, tzinfo=UTC)
    assert found.at == at
    assert {p.at for p in placed} == {at}


def test_everything_is_known_once_in_the_order_of_time(tmp_path: Path) -> None:
    first, again = tmp_path / "one.json", tmp_path / "two.json"
    early, late = event("a", AT), event("b", "2026-11-20T10:01:00Z")
    first.write_text(as_listed([early, late]))
    again.write_text(as_listed([late, early, event("a", AT, count=2)]))

    _, placed, _ = looked(first, again)

    assert [p.uid for p in placed] == ["uid-b", "uid-a"]


@pytest.mark.parametrize(
    ("created", "moment"), [("10:05:01", "10:05:00"), ("10:52:00", "10:52:00")]
)
def test_an_event_of_a_clock_that_was_behind_has_the_time_of_its_creation(
    created: str, moment: str
) -> None:
    made = event("a", AT)
    made["metadata"]["creationTimestamp"] = f"2026-11-20T{created}Z"
    found = event_moment(made)
    assert found is not None
    assert f"{found:%H:%M:%S}" == moment


def zipped(text: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pods.json", text)
    return file.getvalue()


def tarred(*named: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in named:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


PODS = as_listed([pod("a"), pod("b")])


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(PODS.encode()),
        zstd.compress(PODS.encode()),
        zipped(PODS),
        tarred(("pods.json", PODS.encode())),
        gzip.compress(tarred(("inner.zip", zipped(PODS)))),
        tarred(("inner.tar.gz", gzip.compress(tarred(("p", PODS.encode()))))),
    ],
)
def test_archives_are_read_also_in_one_another(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "saved"
    path.write_bytes(content)

    (found,), placed, _ = looked(path)

    assert (found.total.objects, len(placed)) == (2, 2)


def test_a_hostile_archive_reads_and_writes_nothing_else(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps(pod("secret")))
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "link.json").symlink_to(secret)
    os.mkfifo(folder / "pipe")
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in ("../../up.json", "/abs.json", "in.json"):
            content = json.dumps(
                pod(name.strip("./").replace(".", "-"))
            ).encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE):
            member = tarfile.TarInfo(f"odd-{kind.decode()}.json")
            member.type, member.linkname = kind, str(secret)
            archive.addfile(member)
    with zipfile.ZipFile(folder / "all.zip", "w") as zipped:
        linked = zipfile.ZipInfo("odd-link.json")
        linked.external_attr = (stat.S_IFLNK | 0o777) << 16
        zipped.writestr(linked, str(secret))
    (folder / "all.tar").write_bytes(file.getvalue())
    before = sorted(tmp_path.rglob("*"))

    (found,), placed, _ = looked(folder)

    assert found.total.objects == len(placed) == 3
    # Of the folder and its archives: 1 + 2 + 1, and 1 + 1.
    assert found.skipped == {"link": 4, "special file": 2}
    assert b"uid-secret" not in b"".join(p.raw for p in placed)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_bomb_is_refused_by_its_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "SMALL_BYTES", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b" " * (64 << 20)))

    (found,), placed, _ = looked(path)

    assert not placed
    (file,) = found.files
    assert "times its size" in str(file.trouble)


def test_a_file_of_any_size_is_refused_before_it_is_read(
    tmp_path: Path,
) -> None:
    sparse = tmp_path / "sparse.json"
    sparse.touch()
    os.truncate(sparse, 1 << 40)

    (found,), _, _ = looked(sparse)

    assert "larger than 256 GiB" in str(found.files[0].trouble)


def nested(depth: int) -> bytes:
    packed = PODS.encode()
    for _ in range(depth):
        packed = gzip.compress(packed)
    return packed


LONG = b'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "' + (
    b"x" * (12 << 20)
)
DEEP = b'{"apiVersion": "v1", "kind": "Pod", "metadata": ' + b"[" * (1 << 14)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (nested(unpacking.DEPTH_MAX + 1), "packed more than 4 times"),
        (
            tarred(*((str(n), PODS.encode()) for n in range(51))),
            "holds more than 50 files",
        ),
        (tarred(("a", PODS.encode()))[: 512 + 100], "damaged: unexpected end"),
        (zipped(PODS)[:80] + b"?" + zipped(PODS)[81:], "is damaged"),
        (LONG, "too large"),
        (DEEP, ""),
        (gzip.compress(LONG), "too large"),
        (json.dumps(pod("a")).encode().replace(b"train", b"tr\xe4in"), ""),
        (json.dumps(pod("a")).encode("utf-32"), ""),
        (b"\0" * (4 << 20), ""),
    ],
)
def test_what_is_too_large_or_not_text_costs_no_memory(
    content: bytes, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused by name, and the next file is read."""
    monkeypatch.setattr(unpacking, "MEMBERS_MAX", 50)
    monkeypatch.setattr(splitting, "DOCUMENT_BYTES_MAX", 1 << 20)
    (tmp_path / "hostile").write_bytes(content)
    (tmp_path / "pods.json").write_text(as_listed([pod("b")]))

    tracemalloc.start()
    (found,), placed, _ = looked(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "uid-b" in {one.uid for one in placed}
    shown = [file for file in found.files if "/hostile" in file.path]
    said = " ".join(text for one in shown for text in one.says())
    said += " ".join(str(one.trouble) for one in shown)
    assert why in said
    assert shown or found.unknown_some
    assert peak < 8 << 20


WAYS = {
    "bzip2": zipfile.ZIP_BZIP2,
    "deflate": zipfile.ZIP_DEFLATED,
    "lzma": zipfile.ZIP_LZMA,
}


def two_zipped(way: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", WAYS[way]) as archive:
        archive.writestr(
            "a.json", as_listed([pod(f"a{n}") for n in range(99)])
        )
        archive.writestr("b.json", json.dumps(pod("b")))
    return file.getvalue()


@pytest.mark.parametrize("way", WAYS)
def test_beside_a_damaged_file_of_a_zip_the_others_are_read(
    way: str, tmp_path: Path
) -> None:
    """What is damaged is named, with what to do about it."""
    damaged = bytearray(two_zipped(way))
    damaged[150:250] = bytes(100)
    path = tmp_path / "all.zip"
    path.write_bytes(damaged)

    (found,), placed, _ = looked(path)

    assert {one.uid for one in placed} == {"uid-b"}
    first, second = found.files
    assert (first.path, first.taken) == (f"{path}:a.json", 0)
    trouble = str(first.trouble)
    assert trouble.startswith("the archive is damaged: ")
    assert trouble.endswith("copy it again, or unpack what can be read of it")
    assert (second.path, second.trouble) == (f"{path}:b.json", None)


@pytest.mark.parametrize("way", WAYS)
def test_a_zip_that_lost_some_bytes_is_refused_in_words(
    way: str, tmp_path: Path
) -> None:
    """Also if its directory names places before the file's beginning."""
    whole = two_zipped(way)
    path = tmp_path / "all.zip"
    for place in (4, 40, len(whole) // 2, len(whole) - 40):
        for lost in (1, 30, 300):
            path.write_bytes(whole[:place] + whole[place + lost :])
            (found,), _, _ = looked(path)
            said = [str(one.trouble) for one in found.files if one.trouble]
            assert said
            for one in said:
                assert "damaged: " in one or "cannot be read: " in one
                assert "copy it again, or unpack" in one


def test_cases_after_public_reports_are_read_or_refused_by_name() -> None:
    """Events that were exported, and a list of Events without names."""
    (exported,), _, _ = looked(CASES / "a08-events-dump")
    (nameless,), _, _ = looked(OWN_CASES / "f01-offline-dump")

    assert (exported.total.events, exported.total.refused) == (4, 0)
    (file,) = nameless.files
    assert file.says() == ["lines 3-5: a core/v1 Event without a name"]


SOS_DATE = "Fri Nov 20 10:09:00 UTC 2026\n"


@pytest.mark.parametrize(
    ("layout", "files", "at"),
    [
        # Lists of troubleshoot.sh, in older versions without a kind.
        (
            "a support bundle of troubleshoot.sh",
            {
                "b/cluster-resources/pods/train.json": json.dumps(
                    [kindless(pod("a"))]
                ),
                "b/cluster-resources/namespaces.json": json.dumps(
                    [{"metadata": {"name": "train"}, "spec": {}}]
                ),
                "b/cluster-resources/events/train.json":
                    as_listed([ONE_EVENT]),
                "b/cluster-resources/pods/logs/train/a/main.log": "started\n",
                "b/version.yaml": "apiVersion: troubleshoot.sh/v1beta2\n"
                "kind: SupportBundle\nspec: {versionNumber: v0.133.0}\n",
            },
            "10:05:00",
        ),
        (
            "an sos report",
            {
                "sos/date": SOS_DATE,
                "sos/sos_commands/kubernetes/kubectl_get_-o_json_pods":
                    as_listed([pod("a"), pod("b"), ONE_EVENT]),
                "sos/sos_commands/process/ps": "PID TTY\n",
            },
            "10:09:00",
        ),
        (
            "kubectl cluster-info dump",
            {
                "kube-system/pods.json": json.dumps({
                    "kind": "PodList", "apiVersion": "v1", "metadata": {},
                    "items": [kindless(pod("a")), kindless(pod("b"))],
                }),
                "kube-system/events.json": json.dumps({
                    "kind": "EventList", "apiVersion": "v1",
                    "items": [kindless(ONE_EVENT)],
                }),
                "kube-system/a/logs.txt": "{not json\n",
            },
            "10:05:00",
        ),
    ],
)  # fmt: skip
def test_bundles_are_read_by_their_documented_layouts(
    layout: str, files: dict[str, str], at: str, tmp_path: Path
) -> None:
    for name, text in files.items():
        path = tmp_path / "saved" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    (found,), placed, _ = looked(tmp_path / "saved")

    assert found.layout == layout
    assert all(file.is_whole for file in found.files)
    assert (found.total.objects, found.total.events) == (2, 1)
    assert found.at is not None
    assert found.at.strftime("%H:%M:%S") == at
    assert len(placed) == 3


def test_a_tape_in_a_folder_is_refused_by_name(tmp_path: Path) -> None:
    header = '{"tape": "recorder/1", "cluster": "demo"}\n{}\n'
    (tmp_path / "a.tape.jsonl").write_text(header)
    (tmp_path / "pods.json").write_text(PODS)

    (found,), placed, _ = looked(tmp_path)

    tape = next(file for file in found.files if file.trouble)
    assert "name it itself" in str(tape.trouble)
    assert len(placed) == 2
