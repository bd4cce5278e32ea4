"""Variations of a tape: the same incident, in another cluster.

Pure functions of a tape, its truth and a seed. Each keeps the truth, or
changes it with the tape, so that answers are tested on more than was recorded:
lost Events, other arrival, repeated frames, a controller that registers all
nodes again, other names, other clocks, no audit.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

import msgspec

from tests.corpus.answered_tape import AnsweredTape, Variation
from tests.corpus.registering import register_all
from tests.corpus.rewording import (
    moment_of,
    rename,
    shift_days,
    written,
)
from tests.corpus.skewing import with_clock_moved
from tests.corpus.tape_lines import Frame, Lines, is_bookmark
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
in a truth, and without it another truth would hold."""


def lose_events(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Remove some Events from watches and lists."""
    chance = Random(seed)
    fates: dict[str, bool] = {}

    def lost(event: Mapping[str, Any]) -> bool:
        uid = event["metadata"]["uid"]
        if uid not in fates:
            spared = event.get("reason") in SPARED
            fates[uid] = not spared and chance.random() < LOST_SHARE
        return fates[uid]

    frames = []
    for frame in answered.tape.frames:
        if frame.get("resource") != EVENTS or frame["frame"] == "closed":
            frames.append(frame)
        elif frame["frame"] == "list":
            items = [event for event in frame["items"] if not lost(event)]
            frames.append(frame | {"items": items})
        elif is_bookmark(frame) or not lost(frame["event"]["object"]):
            frames.append(frame)
    return AnsweredTape(Lines(answered.tape.header, frames), answered.truth)


def shuffle_arrival(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Let frames arrive up to a second later, each resource in its order."""
    chance = Random(seed)
    latest: dict[str, datetime] = {}
    arrived = []
    for frame in answered.tape.frames:
        stream = f"{frame['source']} {frame.get('resource')}"
        late = moment_of(frame["at"]) + JITTER * chance.random()
        late = max(late, latest.get(stream, late))
        latest[stream] = late
        arrived.append((late, frame | {"at": written(late)}))
    arrived.sort(key=lambda pair: pair[0])
    frames = [frame for _, frame in arrived]
    return AnsweredTape(Lines(answered.tape.header, frames), answered.truth)


def repeat_frames(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Let some frames of watches arrive twice."""
    chance = Random(seed)

    def frames() -> Iterator[Frame]:
        for frame in answered.tape.frames:
            yield frame
            if frame["frame"] == "watch" and (
                chance.random() < REPEATED_SHARE
            ):
                yield frame

    return AnsweredTape(
        Lines(answered.tape.header, list(frames())), answered.truth
    )


def skew_node(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Let the clock of one node, and so of its kubelet, be wrong."""
    return _skewed(answered, seed, SKEW)


def skew_node_far(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Let the clock of one node be wrong by more than a grace period."""
    return _skewed(answered, seed, FAR)


def _skewed(answered: AnsweredTape, seed: int, by: timedelta) -> AnsweredTape:
    chance = Random(seed)
    node = chance.choice(sorted(n.name for n in answered.truth.cluster.nodes))
    skew = chance.choice([by, -by])
    tape = with_clock_moved(answered.tape, node, skew)
    return AnsweredTape(tape, answered.truth)


def at_once(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Apply all of them: lost, late, repeated, renamed, and skewed."""
    for vary in (
        lose_events,
        repeat_frames,
        skew_node_far,
        rename,
        shuffle_arrival,
    ):
        answered = vary(answered, seed)
    return answered


def without_audit(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Remove audit records, so that persons are not known."""
    del seed
    frames = [f for f in answered.tape.frames if f["frame"] != "audit"]
    verdicts = [_anonymous(verdict) for verdict in answered.truth.verdicts]
    cluster = msgspec.structs.replace(answered.truth.cluster, audit=False)
    truth = msgspec.structs.replace(
        answered.truth, verdicts=verdicts, cluster=cluster
    )
    return AnsweredTape(Lines(answered.tape.header, frames), truth)


VARIATIONS: Mapping[str, Variation] = {
    "lose-events": lose_events,
    "shuffle-arrival": shuffle_arrival,
    "repeat-frames": repeat_frames,
    "register-all": register_all,
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
