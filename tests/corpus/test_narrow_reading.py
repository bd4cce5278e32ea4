"""What is read for an answer is all that counts for it.

Questions read what may be evidence, and the Pods that were there. Reading
all facts of the nodes and all Pods that ever were on them, and folding them,
has to give the same answers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
    WhyQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    ActiveNodes,
    ActiveNodesNear,
    DisplacedPods,
    FactQuery,
    NameQuery,
    NodeNames,
    NodePlaces,
    PodsOn,
    Purpose,
    StateQuery,
)
from recorder.answers.why import ask_why
from recorder.explain.knowledge import Knowledge, load, shipped
from recorder.explain.signals import signals_of
from recorder.facts import is_evidence
from recorder.model.document import Document, json_bytes
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared, Vanished
from recorder.model.window import Window
from recorder.store import read_gaps
from recorder.store.read import LogReading
from tests.corpus.conftest import Corpus
from tests.corpus.logs import names, reading_of, truth_of
from tests.corpus.truth import read_truth


@dataclass
class Everything:
    """Answers the narrow questions with all there is."""

    reading: LogReading

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reading, name)

    async def facts(self, query: FactQuery) -> Sequence[StoredFact]:
        if query.purpose is Purpose.EVIDENCE:
            query = replace(query, purpose=Purpose.ALL)
        elif query.purpose is Purpose.DISRUPTION:
            return []  # they are among the evidence
        elif query.purpose is Purpose.LOSSES:
            query = replace(query, purpose=Purpose.SIGNS)
        elif query.purpose is Purpose.FAMILIES:
            return await self._families(query)
        return await self.reading.facts(query)

    async def names(self, query: NameQuery[Any]) -> Sequence[Any]:
        match query:
            case ActiveNodes():
                return await self._active(query)
            case ActiveNodesNear():
                return sorted(query.names)
            case PodsOn():
                return await self._pods({stay.node for stay in query.stays})
            case DisplacedPods():
                return await self._pods(query.nodes)
            case _:
                return await self.reading.names(query)

    async def states(self, query: StateQuery[Any, Any]) -> Mapping[Any, Any]:
        if not isinstance(query, NodePlaces):
            return await self.reading.states(query)
        return {
            stored.fact.node: stored.fact.detail.state.labels
            for stored in await self.reading.facts(
                FactQuery(purpose=Purpose.SIGNS)
            )
            if stored.fact.node is not None
            and isinstance(stored.fact.detail, Appeared)
        }

    async def _active(self, query: ActiveNodes) -> Sequence[str]:
        signs = FactQuery(
            purpose=Purpose.SIGNS, since=query.since, until=query.until
        )
        seen = query.observed_since
        names = {
            stored.fact.node
            for stored in await self.reading.facts(signs)
            if stored.fact.node is not None
            and (seen is None or stored.observed_at >= seen)
            and (
                not isinstance(stored.fact.detail, Appeared)
                or stored.fact.detail.created
            )
        }
        return sorted(names)

    async def _families(self, query: FactQuery) -> Sequence[StoredFact]:
        found = set(query.uids)
        while True:
            family = replace(query, purpose=Purpose.FAMILY, uids=found)
            facts = await self.reading.facts(family)
            above = {
                owner.uid
                for stored in facts
                if isinstance(stored.fact.detail, Appeared | Vanished)
                for owner in stored.fact.detail.state.owners
                if owner.uid is not None
                and owner.kind not in {"DaemonSet", "Node", "CronJob"}
            }
            if above <= found:
                return facts
            found |= above

    async def _pods(self, nodes: Collection[str]) -> Sequence[str]:
        every = FactQuery(purpose=Purpose.ALL, nodes=nodes)
        return [
            stored.fact.object.uid
            for stored in await self.reading.facts(every)
            if stored.fact.object is not None
            and stored.fact.object.kind == "Pod"
            and stored.fact.object.uid
        ]


async def answers(
    reading: Reading, name: str, knowledge: Knowledge | None = None
) -> list[bytes]:
    """Ask of all time, and of a window in the midst of what happened."""
    knowledge = knowledge or shipped()
    truth = read_truth(truth_of(name))
    nodes = tuple(node.name for node in truth.cluster.nodes)
    known = set(await reading.names(NodeNames()))
    nodes = tuple(node for node in nodes if node in known)
    now = reading.log.recorded_at
    assert now is not None
    seen = await reading.facts(FactQuery(purpose=Purpose.ALL, nodes=nodes))
    last = max(stored.observed_at for stored in seen)
    windows = [
        Window(None, None),
        Window(last - timedelta(minutes=20), last - timedelta(minutes=1)),
    ]
    found: list[Document] = []
    for window in windows:
        for node in nodes:
            why = WhyQuestion(node=node, window=window)
            answer = await ask_why(reading, why, knowledge, now=now)
            found.append(answer)
        impact = ImpactQuestion(
            nodes=nodes, rack=None, labels=(), window=window
        )
        hit = await ask_impact(reading, impact, knowledge, now=now)
        found.append(hit)
        listed = await ask_incidents(
            reading, IncidentsQuestion(window=window), knowledge, now=now
        )
        found.append(listed)
    return [json_bytes(document) for document in found]


@pytest.mark.parametrize("name", names())
async def test_an_answer_is_that_of_everything_there_is(
    corpus: Corpus, name: str
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        whole = cast(Reading, Everything(reading))

        assert await answers(reading, name) == await answers(whole, name)


RULES = """
events:
  - reporters: [kubelet]
    reasons: [Killing, Pulled]
    about: [Pod]
    role: act
"""


@pytest.mark.parametrize("name", ["drain", "crash"])
async def test_a_rule_about_daily_life_has_all_of_it_read(
    corpus: Corpus, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(RULES)
    knowledge = load([file])
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        whole = cast(Reading, Everything(reading))

        narrow = await answers(reading, name, knowledge)

        assert narrow == await answers(whole, name, knowledge)
        assert narrow != await answers(reading, name)


@pytest.mark.parametrize("name", ["crash-in-gap", "two-reboots"])
async def test_gaps_are_the_same_where_they_are_more_than_a_page(
    corpus: Corpus, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn, log = corpus.database.dsn("reader"), corpus.logs[name]
    async with reading_of(dsn, log) as reading:
        first = await answers(reading, name)
    monkeypatch.setattr(read_gaps, "PAGE", 1)

    async with reading_of(dsn, log) as reading:
        assert await answers(reading, name) == first


@pytest.mark.parametrize("name", names())
async def test_every_sign_is_evidence(corpus: Corpus, name: str) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        nodes = await reading.names(NodeNames())
        facts = await reading.facts(
            FactQuery(purpose=Purpose.ALL, nodes=nodes)
        )

        assert not [
            stored
            for stored in facts
            if stored.fact.node is not None
            and not is_evidence(stored.fact)
            and signals_of(stored, shipped(), node=stored.fact.node)
        ]
