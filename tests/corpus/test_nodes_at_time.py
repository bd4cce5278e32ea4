"""The nodes as they were: what a list says is what each version shows."""

from datetime import timedelta
from itertools import pairwise

import orjson
import pytest

from recorder.answers.log_questions import ObjectQuestion
from recorder.answers.naming import Reference
from recorder.answers.node_questions import NodesQuestion
from recorder.answers.nodes import ask_labels, nodes_at
from recorder.answers.nouns import Selection
from recorder.answers.queries import EntryQuery, NodeNames
from recorder.answers.show import ask_object
from recorder.model.errors import NotFoundError
from tests.corpus.conftest import Corpus
from tests.corpus.logs import reading_of

INCIDENTS = [
    "crash",
    "kernel-deadlock",
    "node-removed",
    "replaced",
    "rejoined",
]
CHANGES_MAX = 12
"""Of each tape: between as many changes of Nodes it is asked."""


@pytest.mark.parametrize("name", INCIDENTS)
async def test_a_list_says_what_each_node_shows(
    corpus: Corpus, name: str
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        now = reading.log.recorded_at
        assert now is not None
        names = await reading.names(NodeNames())
        times = []
        selection = Selection(versions=True)
        async for page in reading.pages(EntryQuery(selection), after=0):
            times += [
                line.observed_at
                for line in page
                if line.identity and line.identity.kind == "Node"
            ]
        times = sorted(set(times))
        step = max(len(times) // CHANGES_MAX, 1)
        between = [a + (b - a) / 2 for a, b in pairwise(times[::step])]
        assert between
        for at in [*between, times[-1] + timedelta(seconds=1)]:
            answer = await nodes_at(reading, NodesQuestion(at=at), now=now)
            listed = {node.name: node for node in answer.nodes}
            for node in names:
                try:
                    found = await ask_object(
                        reading,
                        ObjectQuestion(
                            object=Reference("node", None, node), at=at
                        ),
                        now=now,
                    )
                except NotFoundError:
                    assert node not in listed, at
                    continue
                shown = orjson.loads(orjson.dumps(found.object))
                ready = [
                    one["status"]
                    for one in shown["status"]["conditions"]
                    if one["type"] == "Ready"
                ]
                spec = shown.get("spec", {})
                state = listed[node]
                assert [state.ready] == ready, at
                assert state.cordoned == bool(spec.get("unschedulable")), at
                assert sorted(state.taints) == sorted(
                    f"{one['key']}:{one['effect']}"
                    for one in spec.get("taints", [])
                ), at
                assert state.labels == shown["metadata"]["labels"], at


async def test_racks_and_zones_are_counted(corpus: Corpus) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs["rack-loss-jobset"]) as reading:
        now = reading.log.recorded_at
        assert now is not None
        places = await ask_labels(reading, None, now=now)
        kinds = await ask_labels(
            reading, "node.kubernetes.io/instance-type", now=now
        )

    assert places["example.com/rack"]["rack-2"] == 2
    assert set(places) == {"example.com/rack", "topology.kubernetes.io/zone"}
    assert sum(kinds["node.kubernetes.io/instance-type"].values()) == sum(
        places["example.com/rack"].values()
    )


async def test_before_the_record_nothing_is_vouched_for(
    corpus: Corpus,
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs["crash"]) as reading:
        now = reading.log.recorded_at
        assert now is not None
        early = now - timedelta(days=400)
        answer = await nodes_at(reading, NodesQuestion(at=early), now=now)

    assert answer.nodes == []
    assert not answer.coverage.complete
