"""Dumps of a recorded cluster, as tools write them of its last state."""

import asyncio
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from recorder.keeping.importing import Importing, find_all, import_all
from recorder.model.kinds import BUILT_IN_KINDS
from recorder.model.observation import ListPage, WatchFrame
from recorder.model.settings import Settings
from recorder.sources.dumps import Shelf
from recorder.sources.tape import TapeReader

__all__ = [
    "Saved",
    "as_inspected",
    "as_listed",
    "demo",
    "imported",
    "packed",
    "saved",
]

Objects = Mapping[str, list[dict[str, Any]]]


class Saved(NamedTuple):
    """The objects of a cluster at one time, and the Events of an hour."""

    at: datetime
    objects: Objects
    """By resource, as a tape writes it."""


def demo() -> Saved:
    """Return what was left at the end of the demo."""
    place = files("recorder.sources.tape.demo") / "demo.tape.jsonl.zst"
    with as_file(place) as path:
        return saved(path)


def saved(tape: Path) -> Saved:
    """Return what was left at the end of a tape."""
    left: dict[str, dict[str, dict[str, Any]]] = {}
    at = None
    with TapeReader(tape) as reader:
        for _, seen in reader.frames():
            at = seen.observed_at
            if isinstance(seen, ListPage):
                raws, gone = list(seen.items), False
            elif isinstance(seen, WatchFrame) and seen.type != "BOOKMARK":
                raws, gone = [seen.object], seen.type == "DELETED"
            else:
                continue
            resource = str(seen.resource)
            for raw in raws:
                document = _named(json.loads(raw), resource)
                uid = document["metadata"]["uid"]
                if not gone:
                    left.setdefault(resource, {})[uid] = document
                elif not resource.endswith("events"):
                    left.get(resource, {}).pop(uid, None)
    assert at is not None, "the tape has frames"
    return Saved(at, {name: [*of.values()] for name, of in left.items()})


def _named(document: dict[str, Any], resource: str) -> dict[str, Any]:
    *group, version, plural = resource.split("/")
    kind = document.get("kind") or BUILT_IN_KINDS["/".join([*group, plural])]
    rest = {
        k: v for k, v in document.items() if k not in {"apiVersion", "kind"}
    }
    return {"apiVersion": "/".join([*group, version]), "kind": kind, **rest}


def as_listed(objects: list[dict[str, Any]]) -> str:
    """Write objects as ``kubectl get -o json`` does."""
    listed = {
        "apiVersion": "v1",
        "items": objects,
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }
    return json.dumps(listed, indent=4)


def as_inspected(found: Saved) -> Iterator[tuple[str, str]]:
    """Yield the files of a must-gather of these objects, with their names.

    As ``oc adm inspect`` lays them out: cluster-scoped objects one by one,
    others by namespace and resource, the list with its kind behind its items.
    """
    top = "must-gather.local.5123/quay-io-must-gather-sha256-0a1b"
    moment = found.at.strftime("%Y-%m-%d %H:%M:%S.%f +0000 UTC")
    yield f"{top}/timestamp", f"{moment} m=+0.1\n{moment} m=+9.2\n"
    yield f"{top}/version", "must-gather\n"
    for resource, some in found.objects.items():
        *group, _, plural = resource.split("/")
        folder = "/".join([*group]) or "core"
        spaces: dict[str, list[dict[str, Any]]] = {}
        for one in some:
            space = one["metadata"].get("namespace", "")
            if space:
                spaces.setdefault(space, []).append(one)
                continue
            name = one["metadata"]["name"]
            path = f"{top}/cluster-scoped-resources/{folder}/{plural}"
            yield f"{path}/{name}.yaml", _yaml(one)
        for space, items in spaces.items():
            path = f"{top}/namespaces/{space}/{folder}/{plural}.yaml"
            yield (
                path,
                _yaml({"apiVersion": "v1", "items": items, "kind": "List"}),
            )
    yield (
        f"{top}/namespaces/serve/pods/chat/main/main/logs/current.log",
        "2026-11-25T00:08:00.000000001Z listening\n" * 20,
    )


def _yaml(document: object) -> str:
    return "---\n" + yaml.dump(document, Dumper=yaml.CSafeDumper)


def packed(members: Iterator[tuple[str, str]], path: Path) -> Path:
    """Write files into an archive that is compressed."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members:
            content = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


async def imported(
    dsn: str,
    path: Path,
    folder: Path,
    *,
    name: str,
    stop_after: int | None = None,
) -> None:
    """Import a file into a new log; stop after so many things, if at all."""
    stop = asyncio.Event()

    def show(file: str, count: int) -> None:
        if not file and stop_after is not None and count >= stop_after:
            stop.set()

    importing = Importing(
        paths=[path],
        chooses=lambda *_: True,
        name=name,
        on_progress=show,
    )
    settings = Settings(data_dir=folder)
    with Shelf() as shelf:
        found = await find_all(importing, shelf, stop)
        await import_all(importing, found, shelf, settings, dsn, stop)
