"""Places: switches, PDUs and DPUs, and what lies behind them.

The recording of the laboratory is asked why, with everything that it has and
with each source absent. Its truth was written before it was played.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from recorder.answers.incidents import ask_incidents
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    IncidentsQuestion,
    WhyQuestion,
    WhyWorkloadQuestion,
)
from recorder.answers.ports import Beside, Reading
from recorder.answers.references import find_objects
from recorder.answers.timeline import ask_dpus
from recorder.answers.why import ask_why
from recorder.answers.why_workload import (
    ask_why_workload,
    why_workload_lines,
)
from recorder.explain.knowledge import shipped
from recorder.explain.verdict import Verdict
from recorder.model.errors import NotFoundError
from recorder.model.outcomes import ServiceState
from recorder.model.window import Window
from tests.corpus.logs import play, reading_of
from tests.corpus.places.fleet import DPF as DPF_GROUP
from tests.corpus.places.laboratory import FOLDER, make, read_spans
from tests.corpus.places.truth import (
    CLAIMS,
    DPF,
    DPU,
    DPUS,
    EXPECTED,
    GANGS,
    LOOKALIKES,
    Answer,
)
from tests.corpus.tape_lines import Frame, Lines, read_lines, write_lines
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.support.sampling import sampled

RULES: Final = shipped()

IS_OF: Final[dict[str, Callable[[Frame], bool]]] = {
    CLAIMS: lambda frame: frame["frame"] == "cloudevent",
    DPF: lambda frame: str(frame.get("resource")).startswith(DPF_GROUP),
}
"""Whether a frame of a tape is of a source."""


def tape_in(folder: Path, name: str) -> Path:
    return folder / f"{name}.tape.jsonl.zst"


def with_checkpoint(frames: list[Frame]) -> Iterator[Frame]:
    """Yield frames, with a claim that a gang saved its state, at first."""
    claims = (frame for frame in frames if IS_OF[CLAIMS](frame))
    first = next(claims)
    for frame in frames:
        yield frame
        if frame is first:
            event = {
                **first["event"], "id": "checkpoint", "type": "job.checkpoint",
                "subject": "job/train/llm-a", "data": {"step": 1},
            }  # fmt: skip
            yield {**first, "event": event, "key": "f" * 64}


async def play_into(writer: str, folder: Path, work: Path) -> None:
    """Play the hosts and their DPUs, and the hosts without each source."""
    assert await play(writer, tape_in(folder, "hosts"), name="hosts") == 1
    assert await play(writer, tape_in(folder, "dpus"), name="dpus") == 2
    whole = read_lines(tape_in(folder, "hosts"))
    for number, (source, is_of) in enumerate(IS_OF.items(), 3):
        kept = [frame for frame in whole.frames if not is_of(frame)]
        assert len(kept) < len(whole.frames)
        if source is DPF:
            kept = [*with_checkpoint(kept)]
        tape = work / f"{source}.tape.jsonl.zst"
        write_lines(tape, Lines(whole.header, kept))
        assert await play(writer, tape, name=f"no-{source}") == number


LOGS: Final = {None: 1} | {n: i for i, n in enumerate(IS_OF, 3)}
"""The log to ask, by the source that is absent."""


@pytest.fixture(scope="module")
def played(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    work = tmp_path_factory.mktemp("places")

    async def fill(writer: str) -> None:
        await play_into(writer, FOLDER, work)

    with filled_database(embedded_server, fill) as database:
        yield database


async def verdicts_on(
    reading: Reading, node: str, window: Window
) -> list[Verdict]:
    now = reading.log.recorded_at
    assert now is not None
    question = WhyQuestion(node=node, window=window, at=None)
    return [*(await ask_why(reading, question, RULES, now=now)).verdicts]


def problems(found: list[Verdict], right: Answer) -> Iterator[str]:
    """Yield what verdicts say wrongly."""
    if len(found) != 1:
        yield f"verdicts: {[str(one.sentence) for one in found]}"
        return
    (one,) = found
    said = (*map(str, (one.happened, one.cause, one.confidence)),)
    if not (
        one.happened == right.happened
        and one.cause in right.causes
        and one.confidence in right.confidence
    ):
        yield f"{said}, not {right}"
    words = f"{one.sentence} {one.fault.says if one.fault else ''}"
    if right.says not in words or any(name in words for name in right.never):
        yield f"names the wrong place: {words}"
    actor = one.decision.actor.name if one.decision else None
    if right.actor not in {None, actor}:
        yield f"by {actor}, not {right.actor}"


@pytest.mark.parametrize(
    ("way", "nothing"), [("LABEL", "another/label"), ("DPUS", [("x", "y")])]
)
async def test_a_dpu_is_found_by_its_label_or_by_its_serial_number(
    played: Database,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    nothing: object,
) -> None:
    monkeypatch.setattr(f"recorder.answers.loading.dpus.{way}", nothing)
    (dpu,) = [one for one in EXPECTED if DPUS in one.without]
    window = Window(*read_spans()[dpu.act])
    async with reading_of(played.dsn("reader"), 1) as reading:
        found = await verdicts_on(reading, dpu.node, window)
    assert [*problems(found, dpu.answer)] == []


async def away() -> Beside:
    return Beside((), ["dpus"])


async def test_a_dpu_has_its_own_lanes_beside_its_host(
    played: Database,
) -> None:
    (one,) = [one for one in EXPECTED if DPUS in one.without]
    since, until = read_spans()[one.act]
    # A condition has the second in which it changed.
    window = Window(since - timedelta(seconds=1), until)
    async with reading_of(played.dsn("reader"), 1) as reading:
        now = reading.log.recorded_at
        assert now is not None
        (dpu,) = await ask_dpus(reading, one.node, window, RULES, now=now)
        reading.others = away
        (unseen,) = await ask_dpus(reading, one.node, window, RULES, now=now)
    assert (dpu.cluster, dpu.node) == ("dpus", DPU)
    faults = {one.type for one in dpu.conditions if one.is_fault}
    assert faults == {"UplinkHealthy"}
    states = [one.state for one in dpu.service]
    assert states[0] is ServiceState.IN_SERVICE
    assert {ServiceState.DEGRADED, ServiceState.UNKNOWN} <= {*states}
    assert (unseen.cluster, unseen.node) == ("dpus", None)


async def test_a_log_of_dpus_that_is_away_is_named(played: Database) -> None:
    (dpu,) = [one for one in EXPECTED if DPUS in one.without]
    window = Window(*read_spans()[dpu.act])
    async with reading_of(played.dsn("reader"), 1) as reading:
        reading.others = away
        found = await verdicts_on(reading, dpu.node, window)
    assert [*problems(found, dpu.without[DPUS])] == []
    assert "log of dpus" in {one.evidence for one in found[0].missing}


async def judged(dsn: str, folder: Path, absent: str | None) -> list[str]:
    """Return what is answered wrongly, in words."""
    spans, wrong = read_spans(folder), []
    async with reading_of(dsn, LOGS[absent]) as reading:
        for one in EXPECTED:
            right = one.answer if absent is None else one.without.get(absent)
            if right is None:
                continue
            window = Window(*spans[one.act])
            found = await verdicts_on(reading, one.node, window)
            wrong += [
                f"{one.act}, {one.node}: {says}"
                for says in problems(found, right)
            ]
        for act, nodes in LOOKALIKES.items():
            for node in nodes:
                found = await verdicts_on(reading, node, Window(*spans[act]))
                wrong += [f"{act}: {one.sentence}" for one in found]
    return wrong


@pytest.mark.parametrize("absent", LOGS)
async def test_what_places_did_to_nodes_is_what_was_done(
    played: Database, absent: str | None
) -> None:
    wrong = await judged(played.dsn("reader"), FOLDER, absent)
    assert not wrong, "\n".join(wrong)


async def test_a_place_is_named_as_what_was_claimed_of_it(
    played: Database,
) -> None:
    async with reading_of(played.dsn("reader"), 1) as reading:
        found = await find_objects(reading, Reference.parse("switch/leaf-7"))
        whole = await find_objects(
            reading, Reference.parse("cloudevent/switch/leaf-7")
        )
        assert found == whole
        assert len(found.incarnations) == 2
        with pytest.raises(NotFoundError, match="switch/leaf-1"):
            await find_objects(reading, Reference.parse("switch/leaf-1"))


async def test_what_a_leaf_did_is_one_incident(played: Database) -> None:
    since, until = read_spans()["leaf"]
    async with reading_of(played.dsn("reader"), 1) as reading:
        found = await ask_incidents(
            reading,
            IncidentsQuestion(window=Window(since, until)),
            RULES,
            now=until,
        )
    (incident,) = found.incidents
    assert {*incident.nodes} == {"gpu-001", "gpu-002", "gpu-003", "gpu-004"}


@pytest.mark.parametrize(
    ("absent", "hours"), [(None, None), (CLAIMS, None), (DPF, 24 / 180)]
)
@pytest.mark.parametrize("gang", GANGS)
async def test_a_gang_that_exits_elsewhere_was_stopped_by_its_leaf(
    played: Database, gang: str, absent: str | None, hours: float | None
) -> None:
    since, until = read_spans()["leaf"]
    async with reading_of(played.dsn("reader"), LOGS[absent]) as reading:
        question = WhyWorkloadQuestion(
            object=Reference.parse(f"job/train/{gang}"),
            window=Window(since, until),
            at=None,
        )
        found = await ask_why_workload(reading, question, RULES, now=until)
    (ending,) = found.endings
    assert {*ending.nodes} == {*GANGS[gang]}
    assert {one.node for one in ending.every_verdict} == {*GANGS[gang][:-1]}
    names_leaf = "switch/leaf-7" in ending.sentence
    assert names_leaf == (absent != CLAIMS), ending.sentence
    # Of 24 GPUs for 20 seconds; the other gang saved no state.
    saved = found.gpu_hours_since_checkpoint
    if gang != "llm-a" or hours is None:
        assert saved is None
    else:
        assert saved == pytest.approx(hours, rel=0.1)
        lines = [*why_workload_lines(found)]
        assert (
            f"  redone   {saved:.2f} GPU-hours since the last checkpoint"
            in lines
        )


if sampled("laboratory of places", [True], 0):

    @pytest.mark.timeout(1500)
    async def test_a_new_run_of_the_laboratory_is_explained(
        database: Database, tmp_path: Path
    ) -> None:
        await make(tmp_path)
        await play_into(database.dsn("writer"), tmp_path, tmp_path)
        for absent in LOGS:
            wrong = await judged(database.dsn("reader"), tmp_path, absent)
            assert not wrong, "\n".join(wrong)
