"""Clusters that change at random, observed as a source would.

Whatever happens to a stream comes: versions, heartbeats, bookmarks, ends of
all kinds, refusals, lists that find what was missed, rewinds.
"""

import random
from collections.abc import Callable
from typing import Any

from recorder.model.observation import (
    ABSENT,
    EXPIRED,
    EpochBegan,
    Observation,
    RequestFailed,
    StreamResumed,
)
from recorder.model.reference import Resource
from tests.support.builders import (
    EVENTS,
    LEASES,
    NODES,
    PODS,
    a_bookmark,
    a_closed_stream,
    a_frame,
    a_lease,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)
from tests.support.fixed_log import a_refusal

__all__ = ["a_story"]

RESOURCES = (PODS, NODES, LEASES, EVENTS)
NAMES = ("gpu-001", "gpu-002")


def a_story(seed: int, length: int = 60) -> list[Observation]:
    """Return observations of a random cluster; equal for equal seeds."""
    world = _World(random.Random(seed))
    for _ in range(length):
        world.step()
    return world.observations


class _World:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._now = 0.0
        self._version = 10
        self._alive: dict[Resource, dict[str, dict[str, Any]]] = {
            resource: {} for resource in RESOURCES
        }
        self._number = 0
        self._state = dict.fromkeys(RESOURCES, "must list")
        self.observations: list[Observation] = []

    def step(self) -> None:
        """Let something happen."""
        self._now += self._chance.choice([0.5, 1, 3, 11, 25])
        resource = self._chance.choice(RESOURCES)
        self._change(self._chance.choice(RESOURCES))
        match self._state[resource]:
            case "must list":
                if self._chance.random() < 0.6:
                    self._list(resource)
                else:
                    self._change(resource)
            case "refused":
                self._chance.choice([self._heal, self._list])(resource)
            case _:
                self._happen(resource)

    def _happen(self, resource: Resource) -> None:
        steps: list[tuple[int, Callable[[Resource], None]]] = [
            (12, self._change),
            (3, self._bookmark),
            (2, self._timeout),
            (1, self._list),
            (2, self._expire),
            (1, self._refuse),
            (1, self._undecodable),
            (1, self._vanish),
            (1, self._rewind),
        ]
        weights = [weight for weight, _ in steps]
        (chosen,) = self._chance.choices(steps, weights)
        chosen[1](resource)

    def _change(self, resource: Resource) -> None:
        """Change an object, seen or unseen."""
        alive = self._alive[resource]
        self._version += 1
        name = self._name(resource)
        what = "MODIFIED" if name in alive else "ADDED"
        if what == "MODIFIED" and self._chance.random() < 0.2:
            what = "DELETED"
        document = self._document(resource, name)
        if what == "DELETED":
            del alive[name]
        else:
            alive[name] = document
        if self._state[resource] == "live":
            self.observations.append(
                a_frame(resource, what, document, when=self._now)
            )

    def _name(self, resource: Resource) -> str:
        if resource in {NODES, LEASES}:
            return self._chance.choice(NAMES)
        known = sorted(self._alive[resource])
        if known and self._chance.random() < 0.6:
            return self._chance.choice(known)
        self._number += 1
        return f"thing-{self._number}"

    def _document(self, resource: Resource, name: str) -> dict[str, Any]:
        version = self._version
        if resource is NODES:
            ready = self._chance.choice(["True", "True", "Unknown"])
            return a_node(name, version, ready=ready, beat=version % 60)
        if resource is LEASES:
            return a_lease(name, version, renewed=self._now)
        if resource is EVENTS:
            return an_event(name, version, count=version)
        return an_object(name, version, status={"n": version})

    def _list(self, resource: Resource) -> None:
        items = list(self._alive[resource].values())
        half = self._chance.randint(0, len(items))
        version = self._version
        if self._chance.random() < 0.4:
            page = a_list(
                resource, version, *items[:half], when=self._now, more=True
            )
            self.observations.append(page)
            self._now += 1
            items = items[half:]
        self.observations.append(
            a_list(resource, version, *items, when=self._now)
        )
        self._state[resource] = "live"

    def _bookmark(self, resource: Resource) -> None:
        self.observations.append(
            a_bookmark(resource, self._version, when=self._now)
        )

    def _timeout(self, resource: Resource) -> None:
        self.observations.append(
            a_closed_stream(resource, "timeout", when=self._now)
        )

    def _expire(self, resource: Resource) -> None:
        reason = self._chance.choice(
            [EXPIRED, "reconcile-mismatch", "connection reset"]
        )
        self.observations.append(
            a_closed_stream(resource, reason, when=self._now)
        )
        if reason != "connection reset":
            self._state[resource] = "must list"

    def _refuse(self, resource: Resource) -> None:
        self.observations.append(
            RequestFailed(
                observed_at=at(self._now),
                resource=resource,
                status=self._chance.choice([401, 403, 500]),
                reason="no",
            )
        )
        self._state[resource] = "refused"

    def _heal(self, resource: Resource) -> None:
        self._state[resource] = "live"
        way = self._chance.randint(0, 2)
        if way == 0:
            self._bookmark(resource)
        elif way == 1:
            resumed = StreamResumed(
                observed_at=at(self._now), resource=resource
            )
            self.observations.append(resumed)
        else:
            self._change(resource)

    def _undecodable(self, resource: Resource) -> None:
        del resource
        if self._state[PODS] == "live":
            self.observations.append(a_refusal(self._now))

    def _vanish(self, resource: Resource) -> None:
        self._alive[resource].clear()
        self.observations.append(
            a_closed_stream(resource, ABSENT, when=self._now)
        )
        self._state[resource] = "must list"

    def _rewind(self, resource: Resource) -> None:
        del resource
        self.observations.append(
            EpochBegan(observed_at=at(self._now), reason="back")
        )
        self._state = dict.fromkeys(RESOURCES, "must list")
