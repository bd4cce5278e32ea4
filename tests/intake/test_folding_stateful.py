"""Heartbeats, against a model that compares whole states.

Each update of a node is an entry or is counted, never both and never neither;
it is counted exactly if nothing but a heartbeat differs from the version
before, over restarts and failed commits too.
"""

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.intake.lives import BOUNDED, Fate, Intake
from tests.support.builders import NODES, a_frame, a_list, a_node

NAMES = st.sampled_from(["gpu-001", "gpu-002"])
STATES = st.tuples(
    st.sampled_from(["True", "False"]), st.sampled_from(["", "cordoned"])
)
State = tuple[str, str]


@dataclass
class Node:
    """What the model knows of one node."""

    state: State
    updates: int = 0
    counted: int = 0


class Folding(RuleBasedStateMachine):
    """Nodes that are updated, and a recorder that folds."""

    def __init__(self) -> None:
        super().__init__()
        self.intake = Intake()
        self.version = 9
        self.nodes: dict[str, Node] = {}
        self.expected: list[tuple[str, str]] = []
        self.intake.take(a_list(NODES, 9))

    @rule(name=NAMES, state=STATES, beat=st.integers(0, 59))
    def update(self, name: str, state: State, beat: int) -> None:
        self.version += 1
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = Node(state)
            operation = "ADDED"
            self.expected.append((name, str(self.version)))
        else:
            operation = "MODIFIED"
            node.updates += 1
            if node.state == state:
                node.counted += 1
            else:
                self.expected.append((name, str(self.version)))
            node.state = state
        self.intake.take(self.frame(operation, name, state, beat))

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        if self.nodes.pop(name, None) is not None:
            self.version += 1
            self.expected.append((name, str(self.version)))
            self.intake.take(self.frame("DELETED", name, ("True", ""), 0))

    def frame(self, operation: str, name: str, state: State, beat: int):  # type: ignore[no-untyped-def] # noqa: ANN201
        ready, taint = state
        node = a_node(name, self.version, ready=ready, beat=beat)
        node["metadata"]["uid"] = f"uid-{name}"
        node["spec"] = {"taint": taint}
        return a_frame(NODES, operation, node, when=self.version)

    @rule(fate=st.sampled_from(["well", "lost", "silent"]))
    def commit(self, fate: Fate) -> None:
        self.intake.commit(fate)

    @rule()
    def restart(self) -> None:
        self.intake.commit_all()
        self.intake.restart()

    @invariant()
    def every_update_is_an_entry_or_counted(self) -> None:
        heads = {
            head.identity.name: head for head in self.intake.ledger.versions
        }
        assert heads.keys() == self.nodes.keys()
        for name, node in self.nodes.items():
            assert heads[name].heartbeats == node.counted
            assert node.counted <= node.updates

    @rule()
    def the_entries_are_the_changes(self) -> None:
        self.intake.commit_all()
        entered = [
            (draft.identity.name, draft.resource_version)
            for draft in self.intake.drafts(NODES)
            if draft.identity is not None
        ]
        assert entered == self.expected

    def teardown(self) -> None:
        self.the_entries_are_the_changes()


TestFolding = Folding.TestCase
TestFolding.settings = BOUNDED
