"""Places of a log in a database: what was behind them, and what befell it.

Three nodes are behind one PDU and one leaf; a fourth is elsewhere. The PDU
trips, what is behind it reboots, and one node is moved to another rack.
"""

import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from typing import Any

import pytest

from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import (
    IncidentFilter,
    IncidentsQuestion,
    NodesQuestion,
    WhyQuestion,
)
from recorder.answers.nodes import ask_nodes
from recorder.answers.place_questions import PlaceQuestion, PlacesQuestion
from recorder.answers.places import Labels
from recorder.answers.ports import Reading
from recorder.answers.topology import ENDS_MAX, ask_place, ask_places
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.facts.classify import CLAIM_GROUP
from recorder.model.errors import NotFoundError
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    Observation,
)
from recorder.model.place import Place
from recorder.model.window import Window
from tests.corpus.logs import reading_of
from tests.support.builders import NODES, a_frame, a_list, a_node, at
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import Database, DatabaseServer

NOW = at(2000)
LEAF = "topology.k8s.aws/network-node-layer-3"
BEHIND = {"site.example/pdu": "b3", LEAF: "nn-7", "rack": "r1"}
ELSEWHERE = {"site.example/pdu": "b4", LEAF: "nn-8", "rack": "r2"}


def node(
    name: str,
    version: int,
    *,
    ready: str = "True",
    boot: int = 1,
    **labels: str,
) -> dict[str, Any]:
    made = a_node(name, version, ready=ready)
    made["metadata"] |= {
        "uid": f"uid-{name}",
        "labels": {**(ELSEWHERE if name == "d" else BEHIND), **labels},
    }
    made["status"]["nodeInfo"] = {"bootID": f"boot-{boot}-{name}"}
    return made


def claim(when: float, subject: str, type_: str, **data: str) -> Observation:
    event = {
        "specversion": "1.0",
        "id": f"{subject}-{when}",
        "source": "dc",
        "type": type_,
        "time": at(when).isoformat(),
        "subject": subject,
        "data": data,
    }
    key = sha256(f"dc{event['id']}".encode()).hexdigest()
    return CloudEventPosted(
        observed_at=at(when + 1), event=json.dumps(event).encode(), key=key
    )


def asked_for(when: float, name: str) -> Observation:
    """An audit record as it may be imported: of what only claims name."""
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "auditID": f"{name}-{when}",
        "stage": "ResponseComplete",
        "verb": "delete",
        "user": {"username": "eve"},
        "objectRef": {
            "apiGroup": CLAIM_GROUP,
            "apiVersion": "v1",
            "resource": "cloudevents",
            "name": name,
        },
        "responseStatus": {"code": 404},
        "requestReceivedTimestamp": at(when).isoformat(),
    }
    return AuditRecorded(
        observed_at=at(when), event=json.dumps(event).encode()
    )


def turned(version: int, when: float, **changes: Any) -> list[Observation]:
    return [
        a_frame(
            NODES, "MODIFIED", node(name, version + n, **changes), when=when
        )
        for n, name in enumerate("abc")
    ]


PORTS: dict[str, dict[str, str]] = {
    "port/d:mlx5_0": {"node": "d"},
    "port/leaf-8:7": {},
}
CHANCE = random.Random(37)
FLAPS = sorted(CHANCE.sample(range(1510, 1900), 300))

STORY: list[list[Observation]] = [
    [
        a_list(NODES, 9, *(node(n, 2) for n in "abcd")),
        # Of another place, and an hour before in the terms of the story.
        claim(100, "pdu/b4", "machine.power", event="tripped"),
        # It names a node, and befalls all that is behind the place.
        claim(600, "pdu/b3", "machine.power", event="tripped", node="a"),
        claim(601, "port/leaf-7:1", "link.state", state="down"),
        claim(602, "pdu/b3", "site.unheard-of", fan="3"),
        *(asked_for(1600, port) for port in PORTS),
        *turned(20, 640, ready="Unknown"),
        *turned(30, 700, boot=2),
        a_frame(
            NODES, "MODIFIED", node("c", 40, boot=2, rack="r2"), when=1500
        ),
        *(
            claim(when, port, "link.state", state="up", **of_node)
            for port, of_node in PORTS.items()
            for when in FLAPS
        ),
    ]
]


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


async def test_places_are_those_of_the_hour(reading: Reading) -> None:
    async def behind(seconds: float) -> dict[str, list[str]]:
        found = await ask_places(
            reading, PlacesQuestion(at=at(seconds)), shipped(), now=NOW
        )
        return {one.name: list(one.nodes) for one in found.places}

    assert await behind(1400) == {
        "pdu/b3": ["a", "b", "c"],
        "pdu/b4": ["d"],
        "rack/r1": ["a", "b", "c"],
        "rack/r2": ["d"],
        "switch/nn-7": ["a", "b", "c"],
        "switch/nn-8": ["d"],
    }
    later = await behind(1600)
    assert (later["rack/r1"], later["rack/r2"]) == (["a", "b"], ["c", "d"])


async def test_a_place_shows_since_when_what_was_behind_it(
    reading: Reading,
) -> None:
    asked = PlaceQuestion(
        name=Place.parse("rack/r1"), window=Window(at(300), None)
    )
    found = await ask_place(reading, asked, shipped(), now=NOW)
    assert [(one.child, one.since, one.until) for one in found.relations] == [
        ("node/a", None, None),
        ("node/b", None, None),
        ("node/c", None, at(1500)),
    ]
    assert found.claims == []


async def test_a_place_shows_what_was_claimed_of_it(reading: Reading) -> None:
    asked = PlaceQuestion(name=Place.parse("pdu/b3"))
    claims = (await ask_place(reading, asked, shipped(), now=NOW)).claims
    assert [(one.type, one.at, one.is_known) for one in claims] == [
        ("machine.power", at(600), True),
        ("site.unheard-of", at(602), False),
    ]


async def test_a_place_that_no_log_names_is_not_found(
    reading: Reading,
) -> None:
    asked = PlaceQuestion(name=Place.parse("switch/nn-9"))
    with pytest.raises(NotFoundError, match="names no switch/nn-9"):
        await ask_place(reading, asked, shipped(), now=NOW)
    with pytest.raises(NotFoundError, match="nothing was behind switch/nn-9"):
        await ask_places(
            reading, PlacesQuestion(names=[asked.name]), shipped(), now=NOW
        )


async def test_nodes_and_incidents_are_chosen_by_their_place(
    reading: Reading,
) -> None:
    leaf = Place.parse("switch/nn-7")
    nodes = await ask_nodes(
        reading, NodesQuestion(labels=Labels(place=leaf)), shipped(), now=NOW
    )
    assert [one.name for one in nodes.nodes] == ["a", "b", "c"]
    for place, struck in (("switch/nn-7", {"a", "b", "c"}), ("pdu/b4", set())):
        incidents = await ask_incidents(
            reading,
            IncidentsQuestion(
                window=Window(),
                wanted=IncidentFilter(place=Place.parse(place)),
            ),
            shipped(),
            now=NOW,
        )
        found = {node for one in incidents.incidents for node in one.nodes}
        assert found == struck


async def test_what_the_pdu_did_is_named_for_each_node_behind_it(
    reading: Reading,
) -> None:
    for name in "abc":
        why = await ask_why(
            reading,
            WhyQuestion(node=name, window=Window()),
            shipped(),
            now=NOW,
        )
        verdict = why.verdicts[-1]
        assert verdict.cause == "power-loss"
        assert verdict.fault is not None
        assert "pdu/b3" in verdict.fault.says
        assert verdict.fault.at == at(600)


@pytest.mark.parametrize("port", PORTS)
async def test_a_port_that_flaps_is_shown_by_its_ends_and_counted(
    reading: Reading, port: str
) -> None:
    for since, until in ((0, 2000), (1600, 1777)):
        window = Window(at(since), at(until))
        asked = PlaceQuestion(name=Place.parse(port), window=window)
        found = await ask_place(reading, asked, shipped(), now=NOW)

        flaps = [n for n in FLAPS if since <= n < until]
        counts = Counter(at(n).replace(second=0) for n in flaps)
        minutes = {one.at: one.claims for one in found.minutes}
        assert minutes == counts
        shown = [one.at for one in found.claims]
        ends = [*flaps[:ENDS_MAX], *flaps[ENDS_MAX:][-ENDS_MAX:]]
        assert shown == [at(n) for n in ends]
