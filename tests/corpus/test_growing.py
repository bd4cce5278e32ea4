"""A log that is written while it is asked answers as it was when opened."""

from pathlib import Path

from recorder.answers.facts import listed_fact, shown_node
from recorder.answers.node_questions import ReplayQuestion, WhyQuestion
from recorder.answers.replay import ask_replay
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.model.document import json_bytes, plain
from recorder.model.window import Window
from recorder.store.read import LogReading
from tests.corpus.logs import play, reading_of, tape_of
from tests.corpus.tape_lines import Lines, read_lines, write_lines
from tests.support.postgres import Database

ALWAYS = Window(None, None)


async def answers_of(reading: LogReading) -> bytes:
    now = reading.log.recorded_at
    assert now is not None
    why = await ask_why(
        reading,
        WhyQuestion(node="gpu-002", window=ALWAYS),
        shipped(),
        now=now,
    )
    replay = await ask_replay(
        reading,
        ReplayQuestion(node="gpu-002", window=ALWAYS),
        shipped(),
        now=now,
    )
    steps = [
        plain(listed_fact(step.stored, state=shown_node(step.state)))
        for step in replay.steps
    ]
    return json_bytes([why, steps])


async def test_what_is_written_meanwhile_changes_no_answer(
    database: Database, tmp_path: Path
) -> None:
    whole = tape_of("crash")
    tape = read_lines(whole)
    begun = tmp_path / "begun.tape.jsonl.zst"
    half = tape.frames[: len(tape.frames) // 2]
    write_lines(begun, Lines(tape.header, half))
    writer, reader = database.dsn("writer"), database.dsn("reader")
    log = await play(writer, begun, name="grows")

    async with reading_of(reader, log) as opened:
        before = await answers_of(opened)
        assert await play(writer, whole, name="grows") == log
        assert await answers_of(opened) == before
    async with reading_of(reader, log) as later:
        assert later.log.size > opened.log.size
        assert await answers_of(later) != before
