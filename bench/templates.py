"""The harvested templates as stories: every version of one object, in order.

`harvest` recorded them from a real cluster. Updates of Nodes that change
nothing but heartbeats are left out, because the recorder folds them and they
are not what is measured.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from recorder.facts.classify import substance
from recorder.model.reference import Resource
from recorder.model.zstd import DecompressionParameter, decompress

__all__ = ["EVENTS", "JOBS", "NODES", "PODS", "Story", "Templates", "load"]

TEMPLATES = Path(__file__).with_name("templates.jsonl.zst")
WINDOW_LOG = 27

EVENTS = "v1/events"
JOBS = "batch/v1/jobs"
NODES = "v1/nodes"
PODS = "v1/pods"

SETTLED = "site.example.com/rack"
"""The label that a Node of the harvest gets last; before it has it, it is
not yet a node of a fleet."""

Body = dict[str, Any]


@dataclass(slots=True)
class Story:
    """The life of one object."""

    resource: str
    uid: str
    name: str
    work: str
    """Name of the workload that it belongs to."""

    versions: list[tuple[str, Body]] = field(default_factory=list)
    events: list[Body] = field(default_factory=list)
    """The first version of each Event about it."""


@dataclass(frozen=True, slots=True)
class Templates:
    """All stories, by resource."""

    stories: dict[str, list[Story]]

    def of(self, resource: str) -> list[Story]:
        return self.stories[resource]

    def every(self) -> Iterator[Story]:
        for stories in self.stories.values():
            yield from stories


@cache
def load() -> Templates:
    """Read the templates."""
    stories: dict[str, Story] = {}
    events: list[Body] = []
    for line in _lines():
        made = line["object"]
        if line["resource"] == EVENTS:
            if line["type"] == "ADDED":
                events.append(made)
            continue
        uid = made["metadata"]["uid"]
        story = stories.get(uid)
        if story is None:
            name = made["metadata"]["name"]
            story = stories[uid] = Story(
                line["resource"], uid, name, _work(made)
            )
        story.versions.append((line["type"], made))
    _add_events(stories, events)
    by_resource: dict[str, list[Story]] = {}
    for story in stories.values():
        if story.resource == NODES:
            story.versions = _settled(story.versions)
        by_resource.setdefault(story.resource, []).append(story)
    return Templates(by_resource)


def _lines() -> list[Body]:
    content = decompress(
        TEMPLATES.read_bytes(),
        options={DecompressionParameter.window_log_max: WINDOW_LOG},
    )
    return [json.loads(line) for line in content.splitlines()]


def _work(made: Body) -> str:
    """Name the workload: the longest part of the name that it is known by."""
    metadata = made["metadata"]
    labels = metadata.get("labels", {})
    work = labels.get("app.kubernetes.io/name", metadata["name"])
    return str(work)


def _add_events(stories: dict[str, Story], events: list[Body]) -> None:
    nodes = {s.name: s for s in stories.values() if s.resource == NODES}
    for event in events:
        regarding = event["involvedObject"]
        story = stories.get(regarding.get("uid"))
        if regarding["kind"] == "Node":
            story = nodes.get(regarding["name"])
        if story is not None:
            story.events.append(event)


def _settled(versions: list[tuple[str, Body]]) -> list[tuple[str, Body]]:
    """Return the versions of a complete Node, without heartbeats."""
    kept: list[tuple[str, Body]] = []
    before: bytes | None = None
    resource = Resource.parse(NODES)
    for _, made in versions:
        if SETTLED not in made["metadata"].get("labels", {}):
            continue
        digest = substance(json.dumps(made).encode(), resource)
        if digest != before:
            kept.append(("MODIFIED", made))
        before = digest
    return kept
