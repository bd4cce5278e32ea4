"""Places that no label of a Node names: claims and the site relate them.

A PDU feeds a rack and one more node; their Nodes have labels of racks alone.
After the PDU trips, one node is moved to another rack.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentFilter,
    IncidentsQuestion,
    NodesQuestion,
    PostmortemQuestion,
    WhyQuestion,
)
from recorder.answers.nodes import ask_nodes
from recorder.answers.place_questions import PlaceQuestion, PlacesQuestion
from recorder.answers.places import Labels
from recorder.answers.ports import Reading
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.topology import ask_place, ask_places
from recorder.answers.why import ask_why
from recorder.explain.knowledge import (
    Knowledge,
    KnowledgeError,
    load,
    shipped,
)
from recorder.model.errors import NotFoundError
from recorder.model.observation import Observation
from recorder.model.place import Place
from recorder.model.window import Window
from tests.answers.test_topology import claim
from tests.corpus.logs import reading_of
from tests.support.builders import NODES, a_frame, a_list, a_node, at
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import Database, DatabaseServer

NOW = at(2000)
RACKS = {"a": "r1", "b": "r1", "c": "r3", "d": "r4"}
PDU = Place.parse("pdu/B3")


def node(
    name: str,
    version: int,
    *,
    ready: str = "True",
    boot: int = 1,
    rack: str = "",
) -> dict[str, object]:
    made = a_node(name, version, ready=ready)
    made["metadata"] |= {
        "uid": f"uid-{name}",
        "labels": {"rack": rack or RACKS[name]},
    }
    made["status"]["nodeInfo"] = {"bootID": f"boot-{boot}-{name}"}
    return made


def modified(made: dict[str, object], when: float) -> Observation:
    return a_frame(NODES, "MODIFIED", made, when=when)


STORY: list[list[Observation]] = [
    [
        a_list(NODES, 9, *(node(n, 2) for n in "abcd")),
        claim(100, "rack/r1", "place.relation", parent="pdu/B3"),
        claim(101, "node/c", "place.relation", parent="pdu/B3",
              to="2026-01-01T00:00:00+00:00", slot="feed A"),
        claim(102, "node/c", "place.relation", parent="pdu/B3", slot="feed B"),
        # What fits no place, and what names no zone, relates nothing.
        claim(103, "node/d", "place.relation", parent="wall/B3"),
        claim(600, "pdu/B3", "machine.power", event="tripped"),
        *(
            modified(node(n, 20 + i, ready="Unknown"), 640)
            for i, n in enumerate("abc")
        ),
        *(
            modified(node(n, 30 + i, boot=2), 700)
            for i, n in enumerate("abc")
        ),
        modified(node("a", 40, boot=2, rack="r4"), 1500),
    ]
]  # fmt: skip

# Before rack r1 loses power, c moves in and b moves out.
MOVED: list[list[Observation]] = [
    [
        a_list(NODES, 9, *(node(n, 2) for n in "abcd")),
        modified(node("c", 10, rack="r1"), 300),
        modified(node("b", 11, rack="r4"), 310),
        *(
            modified(node(n, 20 + i, ready="Unknown", rack="r1"), 640)
            for i, n in enumerate("ac")
        ),
        *(
            modified(node(n, 30 + i, boot=2, rack="r1"), 700)
            for i, n in enumerate("ac")
        ),
    ]
]  # fmt: skip


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, STORY, with_facts=True)
    ) as database:
        yield database


@pytest.fixture
async def reading(log: Database) -> AsyncIterator[Reading]:
    async with reading_of(log.dsn("reader"), 1) as opened:
        yield opened


async def struck_at(
    reading: Reading, place: str, rules: Knowledge
) -> set[str]:
    found = await ask_incidents(
        reading,
        IncidentsQuestion(
            window=Window(), wanted=IncidentFilter(place=Place.parse(place))
        ),
        rules,
        now=NOW,
    )
    return {node for one in found.incidents for node in one.nodes}


async def behind(
    reading: Reading, place: Place, rules: Knowledge, seconds: float = 1400
) -> list[str]:
    found = await ask_places(
        reading,
        PlacesQuestion(names=[place], at=at(seconds)),
        rules,
        now=NOW,
    )
    return [*found.places[0].nodes]


async def test_a_claim_says_what_a_pdu_feeds(reading: Reading) -> None:
    assert await behind(reading, PDU, shipped()) == ["a", "b", "c"]
    assert await behind(reading, PDU, shipped(), 1600) == ["b", "c"]
    with pytest.raises(NotFoundError):
        await behind(reading, PDU, shipped(), 90)
    asked = PlaceQuestion(name=PDU)
    found = await ask_place(reading, asked, shipped(), now=NOW)
    assert [(one.child, one.since) for one in found.relations] == [
        ("node/c", at(102)),
        ("rack/r1", at(100)),
    ]


async def test_what_the_pdu_did_is_found_by_its_place(
    reading: Reading,
) -> None:
    assert await struck_at(reading, "pdu/B3", shipped()) == {"a", "b", "c"}
    for name in "abc":
        why = await ask_why(
            reading, WhyQuestion(node=name, window=Window()), shipped(),
            now=NOW,
        )  # fmt: skip
        fault = why.verdicts[-1].fault
        assert fault is not None
        assert fault.says.startswith("pdu/B3: ")


@pytest.mark.parametrize("extra", [(), ("rack=r1",)])
async def test_nodes_are_selected_by_a_place_that_no_label_names(
    reading: Reading, extra: tuple[str, ...]
) -> None:
    asked = NodesQuestion(at=at(1400), labels=Labels.of(None, PDU, extra))
    found = await ask_nodes(reading, asked, shipped(), now=NOW)
    assert [one.name for one in found.nodes] == (
        ["a", "b"] if extra else ["a", "b", "c"]
    )

    asked = NodesQuestion(at=at(1600), labels=Labels.of(None, PDU, extra))
    found = await ask_nodes(reading, asked, shipped(), now=NOW)
    assert "a" not in {one.name for one in found.nodes}


async def test_what_befell_the_nodes_of_a_pdu_is_its_impact(
    reading: Reading,
) -> None:
    found = await ask_impact(
        reading, ImpactQuestion(place=PDU, window=Window()), shipped(), now=NOW
    )
    assert {one.node for one in found.failures} == {"a", "b", "c"}
    # The node was moved away before.
    late = ImpactQuestion(place=PDU, window=Window(at(1500), None))
    found = await ask_impact(reading, late, shipped(), now=NOW)
    assert [one.node for one in found.failures] == []

    report = await ask_postmortem(
        reading,
        PostmortemQuestion(place=PDU, window=Window()),
        shipped(),
        now=NOW,
    )
    assert {one.node for one in report.verdicts} == {"a", "b", "c"}


async def test_an_incident_is_in_the_rack_of_its_hour(
    reading: Reading,
) -> None:
    assert "a" in await struck_at(reading, "rack/r1", shipped())
    assert "a" not in await struck_at(reading, "rack/r4", shipped())


async def test_what_a_rack_shares_is_decided_by_the_racks_of_that_hour(
    database: Database,
) -> None:
    await write_log(database.dsn("writer"), MOVED, with_facts=True)
    async with reading_of(database.dsn("reader"), 1) as reading:
        for name in "ac":
            why = await ask_why(
                reading, WhyQuestion(node=name, window=Window()), shipped(),
                now=NOW,
            )  # fmt: skip
            assert why.verdicts[-1].cause == "power-loss"


async def test_a_file_of_the_site_says_what_a_place_feeds(
    reading: Reading, tmp_path: Path
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(
        "places:\n"
        "- {parent: domain/breaker:7, children: [pdu/B3]}\n"
        "- {parent: domain/breaker:8, children: [node/d],"
        " to: 2026-01-01T00:00:00Z}\n"
    )
    rules, breaker = load([file]), Place.parse("domain/breaker:7")
    assert await behind(reading, breaker, rules) == ["a", "b", "c"]
    assert await struck_at(reading, str(breaker), rules) == {"a", "b", "c"}
    file.write_text("places:\n- {parent: wall/7, children: [pdu/B3]}\n")
    with pytest.raises(KnowledgeError, match='line 2: "wall" is not a kind'):
        load([file])
