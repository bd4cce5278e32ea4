"""Variations of a tape: the same incident, told by another cluster.

Pure functions of a tape, its truth and a seed. Each keeps what is true, or
says what of the truth it changes, so that whoever judges a tape can be tried
on more than was recorded: lost Events, other arrival, repeated frames, a
controller that registers everybody again, other names, other clocks, no
audit.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

import msgspec

from tests.corpus.registering import register_everybody
from tests.corpus.rewording import (
    moment_of,
    rename,
    shift_days,
    written,
)
from tests.corpus.skewing import with_clock_moved
from tests.corpus.tape_lines import Frame, Lines, is_bookmark
from tests.corpus.told import Told, Variation
from tests.corpus.truth import Actor, Verdict

__all__ = ["SPARED", "VARIATIONS"]

EVENTS = "v1/events"

LOST_SHARE = 0.1

REPEATED_SHARE = 0.1

JITTER = timedelta(seconds=1)

SKEW = timedelta(seconds=2)

FAR = timedelta(seconds=90)


SPARED = frozenset(
    {"Starting", "VMcore", "SystemOOM", "SpotInterruption", "ScheduledEvent"}
)
"""Reasons of Events that are never lost: each is the only trace of something
that a truth tells, and without it another truth would hold."""


def lose_events(told: Told, seed: int) -> Told:
    """Let some Events never reach anybody: not once, not in a list."""
    chance = Random(seed)
    fates: dict[str, bool] = {}

    def lost(event: Mapping[str, Any]) -> bool:
        uid = event["metadata"]["uid"]
        if uid not in fates:
            spared = event.get("reason") in SPARED
            fates[uid] = not spared and chance.random() < LOST_SHARE
        return fates[uid]

    frames = []
    for frame in told.tape.frames:
        if frame.get("resource") != EVENTS or frame["frame"] == "closed":
            frames.append(frame)
        elif frame["frame"] == "list":
            items = [event for event in frame["items"] if not lost(event)]
            frames.append(frame | {"items": items})
        elif is_bookmark(frame) or not lost(frame["event"]["object"]):
            frames.append(frame)
    return Told(Lines(told.tape.header, frames), told.truth)


def shuffle_arrival(told: Told, seed: int) -> Told:
    """Let frames arrive up to a second later, each resource in its order."""
    chance = Random(seed)
    latest: dict[str, datetime] = {}
    arrived = []
    for frame in told.tape.frames:
        stream = f"{frame['source']} {frame.get('resource')}"
        late = moment_of(frame["at"]) + JITTER * chance.random()
        late = max(late, latest.get(stream, late))
        latest[stream] = late
        arrived.append((late, frame | {"at": written(late)}))
    arrived.sort(key=lambda pair: pair[0])
    frames = [frame for _, frame in arrived]
    return Told(Lines(told.tape.header, frames), told.truth)


def repeat_frames(told: Told, seed: int) -> Told:
    """Let some frames of watches arrive twice."""
    chance = Random(seed)

    def frames() -> Iterator[Frame]:
        for frame in told.tape.frames:
            yield frame
            if frame["frame"] == "watch" and (
                chance.random() < REPEATED_SHARE
            ):
                yield frame

    return Told(Lines(told.tape.header, list(frames())), told.truth)


def skew_node(told: Told, seed: int) -> Told:
    """Let the clock of one node be wrong, as its kubelet tells the time."""
    return _skewed(told, seed, SKEW)


def skew_node_far(told: Told, seed: int) -> Told:
    """Let the clock of one node be wrong by more than a grace period."""
    return _skewed(told, seed, FAR)


def _skewed(told: Told, seed: int, by: timedelta) -> Told:
    chance = Random(seed)
    node = chance.choice(sorted(n.name for n in told.truth.cluster.nodes))
    skew = chance.choice([by, -by])
    tape = with_clock_moved(told.tape, node, skew)
    return Told(tape, told.truth)


def at_once(told: Told, seed: int) -> Told:
    """Let all of it be true: lost, late, repeated, renamed, and skewed."""
    for vary in (
        lose_events,
        repeat_frames,
        skew_node_far,
        rename,
        shuffle_arrival,
    ):
        told = vary(told, seed)
    return told


def without_audit(told: Told, seed: int) -> Told:
    """Let nobody have listened to audit: persons are not known."""
    del seed
    frames = [f for f in told.tape.frames if f["frame"] != "audit"]
    verdicts = [_anonymous(verdict) for verdict in told.truth.verdicts]
    cluster = msgspec.structs.replace(told.truth.cluster, audit=False)
    truth = msgspec.structs.replace(
        told.truth, verdicts=verdicts, cluster=cluster
    )
    return Told(Lines(told.tape.header, frames), truth)


VARIATIONS: Mapping[str, Variation] = {
    "lose-events": lose_events,
    "shuffle-arrival": shuffle_arrival,
    "repeat-frames": repeat_frames,
    "register-everybody": register_everybody,
    "rename": rename,
    "shift-days": shift_days,
    "skew-node": skew_node,
    "skew-node-far": skew_node_far,
    "at-once": at_once,
    "without-audit": without_audit,
}


def _anonymous(verdict: Verdict) -> Verdict:
    actor = verdict.actor
    if actor is None or actor.kinds != ["user"] or actor.name is None:
        return verdict
    unnamed = Actor(kinds=["unknown", "user"], never=[actor.name])
    at_most = verdict.confidence_at_most
    if verdict.decision == "admin-request" and at_most == "proven":
        at_most = "likely"
    return msgspec.structs.replace(
        verdict, actor=unnamed, confidence_at_most=at_most
    )
