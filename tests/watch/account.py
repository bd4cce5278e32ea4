"""What a run of observations accounts for: frames, and spans without them.

A list makes up for what lies between the version completed before it and its
own; the end of an epoch for whatever came after the version completed then.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import orjson

from recorder.model.observation import (
    EpochBegan,
    ListPage,
    Observation,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.watch.place import Place

__all__ = ["Account", "Key"]

Key = tuple[int, str, str, int, bool]
"""Epoch, plural, uid, version, and whether it is the end of the object."""


@dataclass
class Account:
    """Keeps account of observations, one after the other."""

    epochs: Iterator[int]
    """What the oracle calls the epochs."""

    seen: set[Key] = field(default_factory=set)
    spans: list[tuple[int, str, int, int]] = field(default_factory=list)
    places: dict[Resource, Place] = field(default_factory=dict)
    epoch: int = 0

    @classmethod
    def of(
        cls,
        observations: Iterable[Observation],
        *,
        epochs: Iterator[int],
        plurals: Sequence[str],
    ) -> "Account":
        resources = (Resource("", "v1", plural) for plural in plurals)
        account = cls(epochs, places={r: Place() for r in resources})
        account.epoch = next(epochs)
        for observation in observations:
            account._take(observation)
        return account

    def explains(self, key: Key) -> bool:
        epoch, plural, _, version, _ = key
        return key in self.seen or any(
            (e, p) == (epoch, plural) and after < version <= until
            for e, p, after, until in self.spans
        )

    def _take(self, observation: Observation) -> None:
        if isinstance(observation, EpochBegan):
            for resource, place in self.places.items():
                self._span(resource, place, until=1 << 62)
            self.epoch = next(self.epochs)
        elif isinstance(observation, ListPage) and not observation.more:
            place = self.places.setdefault(observation.resource, Place())
            version = observation.resource_version
            self._span(observation.resource, place, until=int(version))
            place.reached(version)
        elif isinstance(observation, WatchFrame):
            self._frame(observation)

    def _span(self, resource: Resource, place: Place, *, until: int) -> None:
        after = int(place.completed or 0)
        self.spans.append((self.epoch, resource.plural, after, until))
        place.forget()

    def _frame(self, frame: WatchFrame) -> None:
        metadata = orjson.loads(frame.object)["metadata"]
        version = metadata["resourceVersion"]
        place = self.places.setdefault(frame.resource, Place())
        if frame.type == "BOOKMARK":
            place.reached(version)
            return
        place.saw(version)
        plural, gone = frame.resource.plural, frame.type == "DELETED"
        self.seen.add(
            (self.epoch, plural, metadata["uid"], int(version), gone)
        )
