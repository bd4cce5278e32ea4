"""Each incident of a list can be opened by its name."""

from pathlib import Path

from recorder.answers.incident import ask_incident
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import (
    IncidentsQuestion,
    PostmortemQuestion,
)
from recorder.answers.postmortem import ask_postmortem
from recorder.explain.knowledge import shipped
from recorder.model.fact import FactKind
from recorder.model.reference import EntryName
from recorder.model.window import Window
from tests.corpus.conftest import Corpus
from tests.corpus.logs import play, reading_of
from tests.corpus.tape_lines import Lines, write_lines
from tests.scenarios.telling.scene import Scene
from tests.support.builders import at
from tests.support.postgres import Database


def registers() -> Lines:
    """A kubelet restarts, and only audit records it, without a node."""
    scene = Scene(audit=True)
    kubelet = "system:node:gpu-002"
    scene.asked(60, kubelet, "create", "gpu-002", agent="kubelet", code=409)
    return scene.tape("registers")


async def test_every_listed_incident_opens_whatever_record_it_is_named_after(
    database: Database, live: Corpus, tmp_path: Path
) -> None:
    tape = tmp_path / "registers.tape.jsonl.zst"
    write_lines(tape, registers())
    log = await play(database.dsn("writer"), tape, name="registers")
    places = [(live.database, one) for one in live.logs.values()]
    of_no_node = 0
    for asked, number in [*places, (database, log)]:
        async with reading_of(asked.dsn("reader"), number) as reading:
            listed = await ask_incidents(
                reading,
                IncidentsQuestion(window=Window()),
                shipped(),
                now=at(),
            )
            for incident in listed.incidents:
                verdict = incident.first
                kind = verdict.effect.stored.fact.kind
                of_no_node += kind is FactKind.REQUESTED
                opened = await ask_incident(
                    reading,
                    EntryName.parse(verdict.id),
                    shipped(),
                    now=at(),
                )
                assert [one.first.id for one in opened.incidents] == [
                    verdict.id
                ]
                postmortem = await ask_postmortem(
                    reading,
                    PostmortemQuestion.about(verdict.id, window=Window()),
                    shipped(),
                    now=at(),
                )
                assert verdict.node in postmortem.question.nodes
    assert of_no_node, "no incident is named after a record of no node"
