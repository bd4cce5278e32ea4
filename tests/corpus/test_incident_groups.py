"""A fault of several nodes at once is one incident."""

from collections.abc import Mapping

import pytest

from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import IncidentsQuestion
from recorder.answers.queries import Labels, NodePlaces, StateQuery
from recorder.explain.knowledge import shipped
from recorder.model.window import Window
from recorder.store.read import LogReading
from tests.corpus.conftest import Corpus
from tests.corpus.logs import reading_of

RACK = "topology.kubernetes.io/rack"
ZONE = "topology.kubernetes.io/zone"


async def groups_of(reading: LogReading) -> list[tuple[str, list[str]]]:
    """Return the group and the nodes of each incident."""
    now = reading.log.recorded_at
    assert now is not None
    question = IncidentsQuestion(window=Window(None, None))
    found = await ask_incidents(reading, question, shipped(), now=now)
    return [(one.group, sorted({*one.nodes})) for one in found.incidents]


@pytest.mark.parametrize(
    ("name", "incidents"),
    [
        ("rack-loss-jobset", [("rack", ["gpu-002", "gpu-005"])]),
        ("rack-partition", [("rack", ["gpu-002", "gpu-004"])]),
        ("network-partition", [("node", ["gpu-002"])]),
    ],
)
async def test_a_rack_is_one_incident_and_a_node_another(
    corpus: Corpus, name: str, incidents: list[tuple[str, list[str]]]
) -> None:
    log = corpus.logs[name]
    async with reading_of(corpus.database.dsn("reader"), log) as reading:
        assert await groups_of(reading) == incidents


@pytest.mark.parametrize(
    "places",
    [
        {"gpu-002": {RACK: "a"}, "gpu-004": {RACK: "b"}},
        {"gpu-002": {ZONE: "z"}, "gpu-004": {ZONE: "z"}},
        {"gpu-002": {RACK: "a"}},
        {},
    ],
)
async def test_nodes_in_other_racks_lose_their_network_separately(
    corpus: Corpus,
    monkeypatch: pytest.MonkeyPatch,
    places: dict[str, dict[str, str]],
) -> None:
    async def elsewhere(
        _: LogReading, query: StateQuery[str, Labels]
    ) -> Mapping[str, Labels]:
        if not isinstance(query, NodePlaces):
            return await states(reading, query)
        names = query.names or places
        return {n: place for n, place in places.items() if n in names}

    states = LogReading.states
    log = corpus.logs["rack-partition"]
    async with reading_of(corpus.database.dsn("reader"), log) as reading:
        monkeypatch.setattr(LogReading, "states", elsewhere)
        found = await groups_of(reading)

    assert found == [("node", ["gpu-002"]), ("node", ["gpu-004"])]
