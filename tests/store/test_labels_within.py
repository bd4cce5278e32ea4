"""Labels of Nodes are those of the requested time."""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)

import pytest

from recorder.answers.queries import Labels, NodeLabels
from recorder.intake.deriving import Deriver
from recorder.model.observation import Observation
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer
from tests.support.builders import NODES, a_frame, a_list, a_node, at
from tests.support.postgres import Database

RACK = "example.com/rack"

Had = Mapping[str, Sequence[Labels]]
Asked = Callable[..., Awaitable[Had]]


def frame(
    type_: str, version: int, when: float, uid: str = "u", **labels: str
) -> Observation:
    return a_frame(NODES, type_, labelled(version, uid, labels), when=when)


def labelled(
    version: int, uid: str, labels: dict[str, str]
) -> dict[str, object]:
    node = a_node("n", version)
    named = {RACK if key == "rack" else key: v for key, v in labels.items()}
    node["metadata"] |= {"uid": uid, "labels": named}
    return node


@pytest.fixture
async def recorded(
    any_database: Database,
) -> AsyncIterator[Callable[..., Awaitable[Asked]]]:
    """Write frames of the node ``n``; yield who reads its labels."""
    writer = Writer(any_database.dsn("writer"), SPEC, holder="a")
    engine = make_engine(any_database.dsn("reader"))

    async def write(*observations: Observation) -> Asked:
        batch = Observer(await writer.take_lease()).batch(*observations)
        await Deriver(writer).derive(batch)
        await writer.append(batch)
        reading = await LogReading.at_present(engine, 1)

        async def asked(
            since: float | None,
            until: float | None,
            value: str = "a",
            key: str | None = None,
        ) -> Had:
            labels = NodeLabels(
                value=value,
                key=key,
                since=None if since is None else at(since),
                until=None if until is None else at(until),
            )
            return await reading.states(labels)

        return asked

    yield write
    await engine.dispose()
    await writer.close()


Recorded = Callable[..., Awaitable[Asked]]
FIRST = a_list(NODES, 9, labelled(1, "u", {"rack": "a"}), when=0)


async def test_a_label_that_came_later_is_there_from_then_on(
    recorded: Recorded,
) -> None:
    asked = await recorded(
        FIRST, frame("MODIFIED", 10, 100, rack="a", pool="p")
    )
    before, after = {RACK: "a"}, {RACK: "a", "pool": "p"}

    assert await asked(10, 100) == {"n": [before]}
    assert await asked(10, 101) == {"n": [before, after]}
    assert await asked(100, 200) == {"n": [after]}
    assert await asked(None, None) == {"n": [before, after]}


async def test_a_label_that_went_before_is_not_there(
    recorded: Recorded,
) -> None:
    asked = await recorded(
        FIRST,
        frame("MODIFIED", 10, 50, rack="a", pool="p"),
        frame("MODIFIED", 11, 100, rack="a"),
    )

    assert await asked(100, None) == {"n": [{RACK: "a"}]}
    assert {RACK: "a", "pool": "p"} in (await asked(99, None))["n"]


async def test_labels_that_changed_at_once_are_never_mixed(
    recorded: Recorded,
) -> None:
    asked = await recorded(
        FIRST, frame("MODIFIED", 10, 100, rack="b", pool="p")
    )

    assert await asked(None, None) == {
        "n": [{RACK: "a"}, {RACK: "b", "pool": "p"}]
    }
    assert await asked(200, None, "b") == {"n": [{RACK: "b", "pool": "p"}]}


async def test_a_node_that_is_gone_has_those_it_had_last(
    recorded: Recorded,
) -> None:
    asked = await recorded(
        FIRST,
        frame("MODIFIED", 10, 100, rack="b"),
        frame("DELETED", 11, 200, rack="b"),
    )

    assert await asked(300, None) == {"n": [{RACK: "b"}]}
    assert await asked(300, None, "b") == {"n": [{RACK: "b"}]}


async def test_another_of_its_name_has_its_own(recorded: Recorded) -> None:
    asked = await recorded(
        FIRST,
        frame("MODIFIED", 10, 50, rack="a", pool="p"),
        frame("DELETED", 11, 100, rack="a", pool="p"),
        frame("ADDED", 12, 200, "v", rack="c"),
        frame("MODIFIED", 13, 300, "v", rack="d"),
    )

    assert await asked(60, 200) == {"n": [{RACK: "a", "pool": "p"}]}
    assert await asked(200, 300) == {"n": [{RACK: "c"}]}
    assert await asked(300, None) == {"n": [{RACK: "d"}]}


async def test_a_node_has_its_first_labels_before_it_was_seen(
    recorded: Recorded,
) -> None:
    asked = await recorded(FIRST, frame("MODIFIED", 10, 100, rack="b"))

    assert await asked(-20, -10) == {"n": [{RACK: "a"}]}


async def test_who_never_had_it_is_not_read(recorded: Recorded) -> None:
    other = labelled(2, "w", {"rack": "z"})
    other["metadata"] |= {"name": "m"}  # type: ignore[operator]
    asked = await recorded(
        a_list(NODES, 9, labelled(1, "u", {"rack": "a"}), other, when=0)
    )

    assert await asked(None, None, "a") == {"n": [{RACK: "a"}]}
    assert await asked(None, None, "z") == {"m": [{RACK: "z"}]}
    assert await asked(None, None, "q") == {}


@pytest.mark.parametrize("value", ["p", "p" * 63, "p" * 64])
async def test_who_was_given_it_later_is_found(
    recorded: Recorded, value: str
) -> None:
    asked = await recorded(
        FIRST, frame("MODIFIED", 10, 100, rack="a", pool=value)
    )
    had = {"n": [{RACK: "a"}, {RACK: "a", "pool": value}]}

    assert await asked(0, None, value, "pool") == had
    assert await asked(0, None, value) == had
    assert await asked(0, 100, value, "pool") == {}
    assert await asked(0, None, value[:-1] + "q", "pool") == {}


async def test_a_label_that_says_no_place_is_known_by_its_key(
    recorded: Recorded,
) -> None:
    asked = await recorded(
        a_list(NODES, 9, labelled(1, "u", {"pool": "p", "x": "y"}), when=0)
    )

    assert await asked(0, None, "p", "pool") == {
        "n": [{"pool": "p", "x": "y"}]
    }
    assert await asked(0, None, "p", "x") == {}
    assert await asked(0, None, "p") == {}


async def test_a_switch_is_found_by_the_key_of_its_provider(
    recorded: Recorded,
) -> None:
    leaf = {"topology.k8s.aws/network-node-layer-3": "a", "app": "a"}
    other = {"topology.k8s.aws/network-node-layer-3": "b"}
    asked = await recorded(
        a_list(NODES, 9, labelled(1, "u", leaf), when=0),
        frame("MODIFIED", 10, 5, **other),
    )
    assert [*(await asked(1, 4))["n"]] == [leaf]
    assert await asked(1, 9, value="b") == {"n": [leaf, other]}
    assert await asked(1, 9, value="c") == {}
