"""Whatever a claim says that it kept, questions are answered."""

from typing import Any

import msgspec
import pytest

from recorder.answers.html import html
from recorder.answers.markdown import markdown
from recorder.answers.metrics import ask_metrics
from recorder.answers.node_questions import (
    MetricsQuestion,
    PostmortemQuestion,
    WhyQuestion,
)
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.facts.metrics import Kept, data_of, series_of
from recorder.measuring.asking import Asked, event_of
from recorder.model.document import json_bytes
from recorder.model.window import Window
from tests.measuring.story import BACK, LOST, LogDoor, written
from tests.measuring.test_kept import SHARED, measuring
from tests.support.builders import START, at
from tests.support.postgres import Database
from tests.support.sampling import sampled

NAME = "DCGM_FI_DEV_GPU_TEMP"
BEGIN = START.timestamp()
GOOD = data_of(
    Kept(incident="1/1", node="n1", begin=at(LOST - 900), end=at(BACK)),
    [series_of(NAME, {"gpu": "3"}, [(BEGIN, 60.0), (BEGIN + 500, 97.0)])],
)


def summary(*values: object) -> dict[str, Any]:
    return {**GOOD, "summaries": [msgspec.json.encode(values).decode()]}


def series(**changes: object) -> dict[str, Any]:
    return {**GOOD, "series": [{**GOOD["series"][0], **changes}]}


HOSTILE = {
    "no object": [],
    "a time beyond the calendar": {**GOOD, "end": "9999-12-31T23:59:59Z"},
    "times without a zone": {**GOOD, "begin": "2026-11-21T02:00:00"},
    "a window that ends first": {**GOOD, "end": "1970-01-01T00:00:00Z"},
    "a summary of another shape": {**GOOD, "summaries": [7, None, "{", "[]"]},
    "a time that is none": summary(NAME, "3", 1, 97, 1, 97, 1e300, None, 1, 1),
    "values that are none": summary(
        NAME, "3", 1, 97, 1, 1e308, BEGIN, BEGIN, 1, -1e308
    ),
    "columns of unequal length": series(at=[1, 2, 3, 4, 5]),
    "a start beyond the calendar": series(start=1e300),
    "no samples": series(values=[]),
    "a step that is none": series(step=1e308),
    "markup": series(name="<script>alert(1)</script>`|*"),
    "text for numbers": series(values=["a", "b"]),
}


@pytest.mark.parametrize("case", sampled("hostile metrics", HOSTILE, 4))
async def test_every_question_is_answered(
    database: Database, case: str
) -> None:
    log = await written(database.dsn("writer"))
    asked = Asked("1/1", "n1", at(LOST - 900), at(BACK))
    kept = Kept(incident="1/1", node="n1", begin=asked.begin, end=asked.end)
    door = LogDoor(log)
    await door.put({**event_of(asked, kept, []), "data": HOSTILE[case]})
    await door.commit()
    await log.end()
    now, whole = at(9000), Window()
    async with measuring(database, door, None) as (reading, _):
        why = await ask_why(
            reading, WhyQuestion(node="n1", window=whole), shipped(), now=now
        )
        report = await ask_postmortem(
            reading,
            PostmortemQuestion(node="n1", window=whole),
            shipped(),
            now=now,
        )
        found = await ask_metrics(
            reading,
            MetricsQuestion(nodes=["n1"], metrics=["*"]),
            shipped(),
            now=now,
        )
    assert SHARED.names(shipped())
    assert [one.happened for one in why.verdicts] == ["reboot"]
    assert b"nan" not in json_bytes([why, report, found]).lower()
    assert "<script>" not in html(report) + markdown(report)
