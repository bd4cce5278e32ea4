"""What was counted while audit was read makes answers about authors so."""

import orjson

from recorder.answers.log_questions import ObjectQuestion
from recorder.answers.naming import Reference
from recorder.answers.who import ask_who
from recorder.facts.coverage.audit_state import AuditState
from recorder.model.observation import AUDIT, AuditRecorded, PlaceReached
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from recorder.store.read_checks import CheckReader
from recorder.store.writer import Writer
from tests.audit.receiving import a_record
from tests.contract.test_log import SPEC, Observer
from tests.support.builders import (
    NODES,
    PODS,
    START,
    a_frame,
    a_list,
    a_node,
    an_object,
    at,
)
from tests.support.postgres import Database

LISTENING = PlaceReached(
    observed_at=START, source=AUDIT, stream="webhook", place="now"
)
NODE = {"resource": "nodes", "name": "n", "apiVersion": "v1"}


async def test_the_policy_leaves_pods_out_and_not_nodes(
    database: Database,
) -> None:
    versions = range(10, 22)
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    batch = Observer(await writer.take_lease()).batch(
        a_list(PODS, 9, an_object("p", 8)),
        a_list(NODES, 9, a_node("n", 8)),
        LISTENING,
        *(a_frame(PODS, "MODIFIED", an_object("p", v)) for v in versions),
        *(
            AuditRecorded(
                observed_at=START,
                event=orjson.dumps(
                    a_record(str(v), objectRef=NODE, verb="patch")
                ),
            )
            for v in versions
        ),
    )
    await writer.append(batch)
    engine = make_engine(database.dsn("reader"))
    try:
        reading = await LogReading.at_present(engine, 1)
        missing = []
        for name in ("node/n", "pod/train/p"):
            who = await ask_who(
                reading,
                ObjectQuestion(object=Reference.parse(name)),
                now=at(1),
            )
            missing += [
                (name, hole.resource)
                for hole in who.coverage.holes
                if hole.source == AUDIT
            ]
        (audit,) = await CheckReader(engine).audits(None)
    finally:
        await engine.dispose()
        await writer.close()

    assert missing == [("pod/train/p", "v1/pods")]
    assert "audited" not in {stream.source for stream in reading.streams}
    assert (audit.state, audit.records) == (AuditState.RECORDED, 12)
    assert audit.left_out == ["v1/pods"]
