"""Fleets: streams of changes of a GPU cluster of any size.

A fleet is drawn from a seed, and two fleets of different seeds share no name,
registry, namespace or label of a site's own. The dictionaries are trained on
one and measured on another. Documents are real ones of the test cluster,
filled up (`filling`) and varied (`rendering`); the versions of an object come
in the order in which the real cluster showed them.
"""

import json
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.filling import (
    IMAGES,
    filled,
    filled_node,
    images_of_node,
)
from bench.rendering import MAKERS, Page, Values, written_time
from bench.site import IMAGES_OF_A_NODE, Pool, Site, Workload
from bench.templates import (
    EVENTS,
    JOBS,
    NODES,
    PODS,
    Story,
    load,
)

__all__ = ["Change", "Fleet"]

BEGAN = datetime(2026, 11, 21, 3, 18, tzinfo=UTC)
NODE_EVENTS = 0.12
JOB_EVENTS = 0.12
BUMPED = 0.15
DELETED = 0.25
"""Shares of the Events that are about Nodes, about Jobs, that count another
occurrence, and that go."""

PACE = timedelta(milliseconds=2)
"""Between two changes, on average."""

KEPT = frozenset({"uid", "node", "address", "hexadecimal", "rack", "images"})
"""Slots of a Node that last; the others are drawn anew at each trouble."""

STORIES_OF_A_WORKLOAD = 2
ACTIVE = 300
"""Pods, and Jobs, that are changing at any one time."""

LIVE_EVENTS = 4000
WAITING_EVENTS = 400


@dataclass(frozen=True, slots=True)
class Change:
    """One frame of a watch."""

    at: datetime
    resource: str
    type: str
    document: bytes


@dataclass(slots=True)
class Actor:
    """An object that goes through its story."""

    pages: list[tuple[str, Page]]
    values: Values
    place: int = 0


@dataclass(slots=True)
class Machine:
    """A Node, and how far it is in its story."""

    actor: Actor
    identity: Values
    images: list[Any]
    pool: Pool


class Fleet:
    """One cluster and what happens in it."""

    def __init__(
        self,
        seed: str,
        *,
        nodes: int = 500,
        began: datetime = BEGAN,
        pace: timedelta = PACE,
        ended_max: int | None = None,
    ) -> None:
        """Draw a fleet.

        Args:
            seed: what it is drawn from.
            nodes: how many there are.
            began: when its changes begin.
            pace: between two changes, on average.
            ended_max: how many Pods and Jobs that came to their end, and
                Events that nothing repeats, exist before the oldest is
                deleted; None to keep them, so that the fleet grows.
        """
        self.site = Site(seed)
        self._chance = random.Random(f"fleet {seed}")
        self._now = began
        self._pace = pace / timedelta(microseconds=1)
        self.makers = MAKERS
        """Of what comes from now on: uids, suffixes of names and the like."""

        self._revision = self._chance.randrange(10**7, 10**8)
        self._templates = load()
        self._pages: dict[tuple[str, str], list[tuple[str, Page]]] = {}
        self._events: dict[tuple[str, str], list[Page]] = {}
        self._pods: list[Actor] = []
        self._jobs: list[Actor] = []
        self._runs: dict[str, list[tuple[Workload, Values]]] = {}
        self._waiting: list[tuple[Page, Values]] = []
        self._live: list[tuple[Page, Values]] = []
        self._ended_max = ended_max
        self._ended: deque[tuple[str, Page, Values]] = deque()
        self.nodes = [self._machine(number) for number in range(nodes)]

    def changes(self, mix: dict[str, int]) -> Iterator[Change]:
        """Yield changes without end, in these shares by resource."""
        makers = {
            EVENTS: self.event,
            PODS: self.pod,
            NODES: self.node,
            JOBS: self.job,
        }
        chosen = [makers[resource] for resource in mix]
        while True:
            for make in self._chance.choices(
                chosen, list(mix.values()), k=1000
            ):
                yield make()
                yield from self._expired()

    def listed(self) -> Iterator[Change]:
        """Yield every Node as it is, as if it was new."""
        for machine in self.nodes:
            actor = machine.actor
            actor.place = min(actor.place, len(actor.pages) - 1)
            page = actor.pages[actor.place][1]
            yield self._change(NODES, "ADDED", page, actor.values)

    def node(self) -> Change:
        """Let something happen to a Node."""
        machine = self._chance.choice(self.nodes)
        actor = machine.actor
        if actor.place == len(actor.pages):
            actor.place = 0
            actor.values = Values(
                self._chance,
                self._now,
                owner=machine.identity,
                makers=self.makers,
            )
            if self._chance.random() < 0.5:
                slot = self._chance.randrange(len(machine.images))
                machine.images[slot] = self._chance.choice(machine.pool.images)
                key = ("images", f'"{IMAGES}"')
                machine.identity[key] = images_of_node(machine.images)
        return self._next(NODES, actor)

    def pod(self) -> Change:
        """Let something happen to a Pod, or make one."""
        return self._step(PODS, self._pods)

    def job(self) -> Change:
        """Let something happen to a Job, or make one."""
        return self._step(JOBS, self._jobs)

    def event(self) -> Change:
        """Make an Event, or repeat one, or let one go."""
        drawn = self._chance.random()
        if drawn < DELETED and len(self._live) > WAITING_EVENTS:
            page, values = self._live.pop(
                self._chance.randrange(len(self._live) // 2)
            )
            return self._change(EVENTS, "DELETED", page, values)
        if drawn < DELETED + BUMPED and self._live:
            page, values = self._chance.choice(self._live)
            self._bump(values)
            return self._change(EVENTS, "MODIFIED", page, values)
        page, owner = self._waiting_event()
        values = Values(
            self._chance, self._now, owner=owner, makers=self.makers
        )
        change = self._change(EVENTS, "ADDED", page, values)
        self._live.append((page, values))
        if len(self._live) > LIVE_EVENTS:
            self._end(EVENTS, *self._live.pop(0))
        return change

    def life(self, resource: str) -> Iterator[Change]:
        """Yield the whole life of one new object of any resource."""
        actor = self._make(resource)
        while actor.place < len(actor.pages):
            yield self._next(resource, actor)

    def living(self, resource: str) -> bytes:
        """Return an object in the middle of its life, as a list shows it."""
        actor = self._make(resource)
        self._waiting.clear()
        actor.place = len(actor.pages) // 2
        document = self._next(resource, actor).document
        return b"{" + document[document.index(b'"metadata"') :]

    def _end(self, resource: str, page: Page, values: Values) -> None:
        if self._ended_max is not None:
            self._ended.append((resource, page, values))

    def _expired(self) -> Iterator[Change]:
        while len(self._ended) > (self._ended_max or 0):
            resource, page, values = self._ended.popleft()
            yield self._change(resource, "DELETED", page, values)

    def _bump(self, values: Values) -> None:
        for slot in [s for s in values if s[0] in {"count", "last"}]:
            if slot[0] == "count":
                values[slot] = str(int(values[slot]) + 1)
            else:
                values[slot] = written_time(self._now, fraction=False)

    def _waiting_event(self) -> tuple[Page, Values]:
        while len(self._waiting) < WAITING_EVENTS:
            drawn = self._chance.random()
            if drawn < NODE_EVENTS:
                machine = self._chance.choice(self.nodes)
                story = self._chance.choice(self._templates.of(NODES))
                page = Page(
                    self._event_text(self._chance.choice(story.events))
                )
                values = Values(
                    self._chance,
                    self._now,
                    owner=machine.identity,
                    makers=self.makers,
                )
                values["uid", story.uid] = machine.identity["uid", "self"]
                values["node", story.name] = machine.identity["node", "self"]
                self._waiting.append((page, values))
            elif drawn < NODE_EVENTS + JOB_EVENTS:
                self._make(JOBS)
            else:
                self._make(PODS)
        place = self._chance.randrange(len(self._waiting))
        return self._waiting.pop(place)

    def _event_text(self, event: dict[str, Any]) -> str:
        workload = self.site.workloads[0]
        story = Story(NODES, "", "", "no-workload")
        return filled(_dumped(event), story, self.site, workload)

    def _step(self, resource: str, active: list[Actor]) -> Change:
        if len(active) < ACTIVE:
            actor = self._make(resource)
            active.append(actor)
        place = self._chance.randrange(len(active))
        actor = active[place]
        change = self._next(resource, actor)
        if actor.place == len(actor.pages):
            active[place] = active[-1]
            active.pop()
            if change.type != "DELETED":
                self._end(resource, actor.pages[-1][1], actor.values)
        return change

    def _make(self, resource: str) -> Actor:
        """Make a Pod or a Job, and have its Events wait."""
        stories = self._templates.of(resource)
        workload = self._chance.choice(self.site.workloads)
        first = sum(workload.name.encode()) + self._chance.randrange(
            STORIES_OF_A_WORKLOAD
        )
        story = stories[first % len(stories)]
        owner, workload = self._run(story, workload)
        values = Values(
            self._chance, self._now, owner=owner, makers=self.makers
        )
        machine = self._chance.choice(self.nodes)
        for number in range(1, 5):
            slot = "node", f"gpu-{number:03}"
            values[slot] = machine.identity["node", "self"]
        pages, events = self._compiled(story, workload)
        if resource == JOBS:
            values = owner
        # What speaks of an object shares the slots that it has by then.
        pages[0][1].render(values, 0)
        self._waiting.extend((page, values) for page in events)
        return Actor(pages, values)

    def _run(
        self, story: Story, workload: Workload
    ) -> tuple[Values, Workload]:
        """Return what a Job and its Pods share: a running or a new one."""
        metadata = story.versions[0][1]["metadata"]
        owners = metadata.get("ownerReferences")
        uid = owners[0]["uid"] if owners else story.uid
        runs = self._runs.setdefault(uid, [])
        if story.resource == PODS and runs and self._chance.random() < 0.7:
            found = self._chance.choice(runs)
            return found[1], found[0]
        values = Values(self._chance, self._now, makers=self.makers)
        values["uid", uid] = values["uid", "self"]
        runs.append((workload, values))
        del runs[:-50]
        return values, workload

    def _compiled(
        self, story: Story, workload: Workload
    ) -> tuple[list[tuple[str, Page]], list[Page]]:
        key = story.uid, workload.name
        if key not in self._pages:
            self._pages[key] = [
                (
                    kind,
                    Page(filled(_dumped(made), story, self.site, workload)),
                )
                for kind, made in story.versions
            ]
            self._events[key] = [
                Page(filled(_dumped(event), story, self.site, workload))
                for event in story.events
            ]
        return self._pages[key], self._events[key]

    def _machine(self, number: int) -> Machine:
        chance = self._chance
        pool = self.site.pools[number % len(self.site.pools)]
        stories = self._templates.of(NODES)
        story = stories[number // len(self.site.pools) % len(stories)]
        key = story.uid, pool.name
        if key not in self._pages:
            self._pages[key] = [
                (kind, Page(filled_node(_dumped(made), self.site, pool)))
                for kind, made in story.versions
            ]
        identity = Values(chance, self._now)
        images = chance.sample(pool.images, IMAGES_OF_A_NODE)
        name = f"{pool.prefix}{number:04}.{pool.domain}"
        identity["images", f'"{IMAGES}"'] = images_of_node(images)
        identity["node", story.name] = name
        identity["node", "self"] = name
        identity["uid", story.uid] = identity["uid", "self"]
        pages = self._pages[key]
        pages[0][1].render(identity, 0)
        for slot in [s for s in identity if s[0] not in KEPT]:
            del identity[slot]
        values = Values(chance, self._now, owner=identity)
        place = chance.randrange(len(pages))
        return Machine(Actor(pages, values, place), identity, images, pool)

    def _next(self, resource: str, actor: Actor) -> Change:
        kind, page = actor.pages[actor.place]
        actor.place += 1
        return self._change(resource, kind, page, actor.values)

    def _change(
        self, resource: str, kind: str, page: Page, values: Values
    ) -> Change:
        self._now += timedelta(
            microseconds=self._chance.expovariate(1 / self._pace)
        )
        self._revision += self._chance.randrange(1, 5)
        document = page.render(values, self._revision)
        return Change(self._now, resource, kind, document)


def _dumped(made: dict[str, Any]) -> str:
    return json.dumps(made, separators=(",", ":"))
