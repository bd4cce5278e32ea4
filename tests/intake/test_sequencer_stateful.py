"""The sequencer and the ledger, for any observations and any losses.

A recorder that fails to commit, or dies and resumes from what is committed,
writes the same entries as one that does neither: once, and in order.
"""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from recorder.model.observation import StreamResumed, WatchFrame
from recorder.model.reference import Resource
from tests.intake.lives import BOUNDED, Fate, Intake
from tests.support.builders import (
    EVENTS,
    NODES,
    PODS,
    a_bookmark,
    a_closed_stream,
    a_frame,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)

RESOURCES = st.sampled_from([PODS, NODES, EVENTS])
NAMES = st.sampled_from("abc")
DIES = st.sampled_from([None, False, True])


class Lives(RuleBasedStateMachine):
    """One recorder that is disturbed, and its twin that is not."""

    def __init__(self) -> None:
        super().__init__()
        self.subject, self.twin = Intake(), Intake()
        self.version = 9
        self.alive: dict[tuple[Resource, str], str] = {}
        self.sent: dict[Resource, list[tuple[int, WatchFrame]]] = {}
        self.place: dict[Resource, int] = {}
        for resource in (PODS, NODES, EVENTS):
            self.sent[resource], self.place[resource] = [], 0
            for intake in (self.subject, self.twin):
                intake.take(a_list(resource, 9))
                intake.commit()

    def send(self, resource: Resource, *frames: WatchFrame) -> None:
        for frame in frames:
            self.sent[resource].append((self.version, frame))
            self.twin.take(frame)

    @rule(resource=RESOURCES, many=st.integers(1, 3))
    def arrive(self, resource: Resource, many: int) -> None:
        """Let frames reach the subject; its twin has them already."""
        place = self.place[resource]
        frames = self.sent[resource][place : place + many]
        self.subject.take(*(frame for _, frame in frames))
        self.place[resource] += len(frames)

    @rule(resource=RESOURCES, names=st.sets(NAMES), beat=st.integers(0, 59))
    def put(self, resource: Resource, names: set[str], beat: int) -> None:
        for name in sorted(names):
            self.put_one(resource, name, beat)

    def put_one(self, resource: Resource, name: str, beat: int) -> None:
        self.version += 1
        uid = self.alive.get((resource, name))
        operation = "MODIFIED" if uid else "ADDED"
        uid = uid or f"uid-{resource.plural}-{name}-{self.version}"
        self.alive[resource, name] = uid
        self.send(resource, self.frame(resource, operation, name, uid, beat))

    @rule(resource=RESOURCES, names=st.sets(NAMES, min_size=2), dies=DIES)
    def delete(
        self, resource: Resource, names: set[str], *, dies: bool | None
    ) -> None:
        """Delete objects, all in one version, as an expired lease does.

        The stream may be cut, or intake may die, before the last of them.
        """
        gone = [n for n in sorted(names) if (resource, n) in self.alive]
        self.version += bool(gone)
        for name in gone:
            uid = self.alive.pop((resource, name))
            self.send(resource, self.frame(resource, "DELETED", name, uid, 0))
        if dies is not None:
            self.cut_within(resource, 1, dies=dies)

    def frame(
        self, resource: Resource, type_: str, name: str, uid: str, beat: int
    ) -> WatchFrame:
        document: dict[str, Any]
        if resource == NODES:
            ready = "False" if beat % 7 == 0 else "True"
            document = a_node(name, self.version, ready=ready, beat=beat)
        elif resource == EVENTS:
            document = an_event(name, self.version, count=beat)
        else:
            document = an_object(name, self.version, spec={"n": beat})
        document["metadata"]["uid"] = uid
        return a_frame(resource, type_, document, when=self.version)

    @rule(resource=RESOURCES)
    def bookmark(self, resource: Resource) -> None:
        self.arrive(resource, len(self.sent[resource]))
        for intake in (self.subject, self.twin):
            intake.take(a_bookmark(resource, self.version, when=self.version))

    @rule(resource=RESOURCES, reason=st.sampled_from(["cut", "timeout"]))
    def cut(self, resource: Resource, reason: str) -> None:
        """End a stream; it comes again, with what it sent last."""
        closed = a_closed_stream(resource, reason, when=self.version)
        self.subject.take(closed)
        self.come_again(resource)

    @rule(resource=RESOURCES, left=st.integers(1, 2), dies=st.booleans())
    def cut_within(self, resource: Resource, left: int, *, dies: bool) -> None:
        """Be cut, or die, with a few frames of the last version to come."""
        waiting = len(self.sent[resource]) - self.place[resource]
        self.arrive(resource, max(waiting - left, 0))
        if dies:
            self.subject.commit_all()
            self.restart([PODS, NODES, EVENTS])
        else:
            self.cut(resource, "cut")

    @rule(fate=st.sampled_from(["well", "lost", "silent"]))
    def commit(self, fate: Fate) -> None:
        self.subject.commit(fate)

    @rule(order=st.permutations([PODS, NODES, EVENTS]))
    def restart(self, order: list[Resource]) -> None:
        self.subject.restart()
        for resource in order:
            self.come_again(resource)

    def come_again(self, resource: Resource) -> None:
        point = self.subject.point(resource)
        assert point is not None
        completed = int(point.completed or 0)
        resumed = StreamResumed(
            observed_at=at(self.version), resource=resource
        )
        self.subject.take(resumed)
        self.place[resource] = sum(
            version <= completed for version, _ in self.sent[resource]
        )

    @rule()
    def compare(self) -> None:
        for resource, frames in self.sent.items():
            self.arrive(resource, len(frames))
        self.subject.commit_all()
        self.twin.commit_all()
        for resource in (PODS, NODES, EVENTS):
            assert self.subject.drafts(resource) == self.twin.drafts(resource)
        assert heads(self.subject) == heads(self.twin)

    def teardown(self) -> None:
        self.compare()


def heads(intake: Intake) -> list[tuple[Any, ...]]:
    """The heads, but for their positions: streams may be interleaved."""
    return sorted(
        (h.resource, h.identity, h.resource_version, h.ready, h.heartbeats)
        for h in intake.ledger.versions
    )


TestLives = Lives.TestCase
TestLives.settings = BOUNDED
