"""Lists, expiries and refusals in any order, against the whole history.

The model is a server that keeps what it ever did, and a source that lists in
pages, watches, is cut off, and refused, also since its version is gone. In the
end the oracle of the cluster tests compares: every version is in the log
once and in order, but for those inside a gap of the log.
"""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from recorder.model.observation import (
    ListPage,
    RequestFailed,
    StreamResumed,
    WatchFrame,
)
from recorder.model.reference import Resource
from tests.cluster.comparison import Version, differences
from tests.intake.lives import BOUNDED, Fate, Intake
from tests.support.builders import (
    NODES,
    PODS,
    a_bookmark,
    a_closed_stream,
    a_frame,
    a_list,
    a_node,
    an_object,
    at,
)
from tests.support.log_rows import gap_spans, log_rows

RESOURCES = st.sampled_from([PODS, NODES])
NAMES = st.sampled_from("abcd")
CHANGES = st.lists(
    st.tuples(NAMES, st.integers(0, 59)), min_size=1, max_size=4
)


class Server:
    """One resource: its history, and how far a source has it."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self.history: list[tuple[Version, WatchFrame]] = []
        self.alive: dict[str, Version] = {}
        self.compacted = 0
        self.pages: list[ListPage] = []
        self.place: int | None = None
        """The version after which the watch resumes; None: list first."""

    def document(self, name: str, uid: str, version: int, beat: int):  # type: ignore[no-untyped-def] # noqa: ANN201
        if self.resource == NODES:
            ready = "False" if beat % 5 == 0 else "True"
            made = a_node(name, version, ready=ready, beat=beat)
        else:
            made = an_object(name, version, spec={"n": beat})
        made["metadata"]["uid"] = uid
        return made

    def happen(
        self, name: str, version: int, beat: int, *, deleted: bool = False
    ) -> None:
        before = self.alive.get(name)
        uid = before.uid if before else f"{name}-{version}"
        kind = "DELETED" if deleted else "MODIFIED" if before else "ADDED"
        document = self.document(name, uid, version, beat)
        frame = a_frame(self.resource, kind, document, when=version)
        made = Version(
            epoch=1,
            group="",
            resource=self.resource.plural,
            namespace=document["metadata"].get("namespace", ""),
            name=name,
            uid=uid,
            revision=version,
            deleted=deleted,
            heartbeat=not deleted and self.is_heartbeat(before, beat),
        )
        self.history.append((made, frame))
        if deleted:
            del self.alive[name]
        else:
            self.alive[name] = made

    def is_heartbeat(self, before: Version | None, beat: int) -> bool:
        if before is None or self.resource != NODES:
            return False
        was = next(f for v, f in self.history if v == before).object
        return (b'"status":"False"' in was) == (beat % 5 == 0)

    def begin_list(self, version: int, size: int) -> None:
        """Begin a list, in pages of a size."""
        documents = [
            next(f for v, f in self.history if v == alive).object
            for alive in self.alive.values()
        ]
        whole = a_list(self.resource, version, when=version)
        parts = [
            documents[n : n + size] for n in range(0, len(documents), size)
        ] or [[]]
        self.pages = [
            replace(whole, items=part, more=part is not parts[-1])
            for part in parts
        ]

    def after(self, version: int) -> list[WatchFrame]:
        return [f for v, f in self.history if v.revision > version]


class Relists(RuleBasedStateMachine):
    """Two resources, and an intake that lists them again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.intake = Intake()
        self.version = 9
        self.servers = {r: Server(r) for r in (PODS, NODES)}
        for resource in self.servers:
            self.put(resource, [("a", 1), ("b", 2)])
            self.list_page(resource, 1)

    @rule(resource=RESOURCES, changes=CHANGES)
    def put(self, resource: Resource, changes: list[tuple[str, int]]) -> None:
        for name, beat in changes:
            self.version += 1
            self.servers[resource].happen(name, self.version, beat)

    @rule(resource=RESOURCES, names=st.sets(NAMES, min_size=1))
    def delete(self, resource: Resource, names: set[str]) -> None:
        server = self.servers[resource]
        gone = sorted(names & server.alive.keys())
        self.version += bool(gone)
        for name in gone:
            server.happen(name, self.version, 0, deleted=True)

    @rule(resource=RESOURCES, cut=st.booleans())
    def compact(self, resource: Resource, *, cut: bool) -> None:
        """Forget the history; a source behind and cut off must list."""
        self.servers[resource].compacted = self.version
        if cut:
            self.cut(resource)

    @rule(resource=RESOURCES, many=st.integers(1, 9))
    def watch(self, resource: Resource, many: int) -> None:
        """Let some frames come, of a stream that is open."""
        server = self.servers[resource]
        if server.place is None:
            return
        frames = server.after(server.place)[:many]
        self.intake.take(*frames)
        if frames:
            # Others of the same version may follow: it comes again.
            last = [v for v, f in server.history if f is frames[-1]]
            server.place = last[0].revision - 1

    @rule(resource=RESOURCES)
    def bookmark(self, resource: Resource) -> None:
        server = self.servers[resource]
        if server.place is not None:
            self.intake.take(*server.after(server.place))
            mark = a_bookmark(resource, self.version, when=self.version)
            self.intake.take(mark)
            server.place = self.version

    @rule(resource=RESOURCES)
    def cut(self, resource: Resource) -> None:
        server = self.servers[resource]
        if server.place is not None:
            closed = a_closed_stream(resource, "cut", when=self.version)
            self.intake.take(closed)
            self.connect(server)

    @rule(resource=RESOURCES, status=st.sampled_from([401, 403, 500]))
    def refuse(self, resource: Resource, status: int) -> None:
        self.intake.take(
            RequestFailed(
                observed_at=at(self.version),
                resource=resource,
                status=status,
                reason="scripted",
            )
        )
        self.servers[resource].pages = []
        self.connect(self.servers[resource])

    def connect(self, server: Server) -> None:
        """Resume where the source was, or fail because it is too late."""
        if server.place is None:
            return
        if server.place < server.compacted:
            server.place = None
            self.intake.take(
                a_closed_stream(server.resource, "410", when=self.version)
            )
            return
        self.intake.take(
            StreamResumed(
                observed_at=at(self.version), resource=server.resource
            )
        )

    @rule(resource=RESOURCES, size=st.integers(1, 3))
    def list_page(self, resource: Resource, size: int) -> None:
        """Take a page: the next one, or the first of a new list."""
        server = self.servers[resource]
        if server.place is not None:
            return
        if not server.pages:
            server.begin_list(self.version, size)
        page = server.pages.pop(0)
        self.intake.take(page)
        if not page.more:
            server.place = int(page.resource_version)

    @rule(fate=st.sampled_from(["well", "lost", "silent"]))
    def commit(self, fate: Fate) -> None:
        self.intake.commit(fate)

    @rule()
    def restart(self) -> None:
        self.intake.restart()
        for server in self.servers.values():
            server.pages = []
            point = self.intake.point(server.resource)
            completed = None if point is None else point.completed
            server.place = None if completed is None else int(completed)
            self.connect(server)

    @rule()
    def settle(self) -> None:
        """Let everything come; the log then has the whole history."""
        for resource, server in self.servers.items():
            while server.place is None:
                self.list_page(resource, 2)
            self.bookmark(resource)
        self.intake.commit_all()
        log = self.intake.log
        truth = [v for s in self.servers.values() for v, _ in s.history]
        wrong = differences(
            sorted(truth, key=lambda version: version.revision),
            log_rows(log.entries),
            gap_spans(log.entries, log.streams),
            resources={("", "pods"), ("", "nodes")},
        )
        assert wrong == []
        assert all(point.gap is None for point in log.streams.values())

    def teardown(self) -> None:
        self.settle()


TestRelists = Relists.TestCase
TestRelists.settings = settings(BOUNDED, stateful_step_count=50)
