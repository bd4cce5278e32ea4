"""Every question that can be put to a played tape, in a fixed order.

They go through what commands and the API call, in words of the public
interface alone, so that the same questions can be put to other code.
"""

import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

import api.page
from api.access import Principal
from api.http.executing import Executor, Query, document_of
from api.resolvers.context import RequestContext
from recorder.answers.facts import replay_lines
from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.loading.nodes import reads_nodes
from recorder.answers.markdown import markdown
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
    PostmortemQuestion,
    ReplayQuestion,
    WhyQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.queries import NodeNames
from recorder.answers.replay import ask_replay
from recorder.answers.why import ask_why, verdict_lines
from recorder.explain.knowledge import shipped
from recorder.model.document import json_bytes, plain
from recorder.model.window import Window
from recorder.wiring.reading import Logs

__all__ = ["Answer", "Span", "answers_of"]

NOW = datetime(2027, 1, 1, tzinfo=UTC)
"""After every tape: what an answer says does not depend on when it is put."""

QUERIES = Path(api.page.__path__[0]) / "ask"
TEMPLATE = re.compile(
    r"^(?:export )?const (\w+) = [`'](.*?)[`'];", re.DOTALL | re.MULTILINE
)
EXPRESSION = re.compile(r"\$\{(\w+)\}")

STEPS = 120
INCIDENTS_MAX = 200
"""As the page asks for its fleet."""


class Answer(NamedTuple):
    """A question, by its name, and the answer as text."""

    question: str
    text: str


class Span(NamedTuple):
    """A node and a window that a truth asks about."""

    node: str
    since: datetime
    until: datetime


@dataclass(frozen=True)
class _Asking:
    """One log, and everything that is asked of it."""

    logs: Logs
    reading: Reading
    whole: Window

    async def why(self, node: str, window: Window) -> str:
        question = WhyQuestion(node=node, window=window)
        answer = await ask_why(self.reading, question, shipped(), now=NOW)
        lines = [line for v in answer.verdicts for line in verdict_lines(v)]
        return "\n".join([*lines, _json(answer)])

    async def impact(self, node: str, window: Window) -> str:
        question = ImpactQuestion(
            nodes=(node,), rack=None, labels=(), window=window
        )
        answer = await ask_impact(self.reading, question, shipped(), now=NOW)
        return _json(answer)

    async def replay(self, node: str) -> str:
        question = ReplayQuestion(node=node, window=self.whole)
        answer = await ask_replay(self.reading, question, shipped(), now=NOW)
        lines = [line for _, line in replay_lines(answer)]
        return "\n".join([*lines, _json(answer.coverage)])

    async def incidents(self) -> dict[str, Any]:
        question = IncidentsQuestion(window=self.whole)
        answer = await ask_incidents(
            self.reading, question, shipped(), now=NOW
        )
        document: dict[str, Any] = plain(answer)
        return document

    async def postmortem(self, incident: str) -> str:
        question = PostmortemQuestion.about(incident, window=self.whole)
        answer = await ask_postmortem(
            self.reading, question, shipped(), now=NOW
        )
        return markdown(answer)

    async def page(self, query: str, **variables: Any) -> str:
        """Ask what a view of the page asks."""
        since, until = self.whole.since, self.whole.until
        given = {"since": since, "until": until, **variables}
        asked = RequestContext(
            logs=self.logs,
            knowledge=shipped(),
            now=NOW,
            principal=Principal("local"),
        )
        prepared = _executor().prepare(
            Query(text=_queries()[query], variables=_plain(given))
        )
        return _json(document_of(await _executor().execute(prepared, asked)))


async def answers_of(
    logs: Logs, spans: Iterable[Span], *, briefly: bool = False
) -> AsyncIterator[Answer]:
    """Yield the answers of the only log of a database.

    ``briefly`` leaves out what only shows the same verdicts otherwise.
    """
    reading = await logs.read(None)
    one = _Asking(logs, reading, _whole(reading))
    found = await one.incidents()
    yield Answer("incidents", _json(found))
    if not briefly:
        fleet = {"last": INCIDENTS_MAX, "steps": STEPS}
        yield Answer("page of the fleet", await one.page("INCIDENTS", **fleet))
        for incident in found["incidents"]:
            name = incident["id"]
            yield Answer(f"postmortem {name}", await one.postmortem(name))
    for node in sorted(await reading.names(NodeNames())):
        yield Answer(f"why {node}", await one.why(node, one.whole))
        yield Answer(f"impact {node}", await one.impact(node, one.whole))
        if not briefly:
            yield Answer(f"why {node}, last", await one.why(node, Window()))
            yield Answer(f"replay {node}", await one.replay(node))
            page = await one.page("NODE", node=node)
            yield Answer(f"page of {node}", page)
    for place, (node, *ends) in enumerate(spans, 1):
        window = Window(*ends)
        name = f"{node} in window {place}"
        yield Answer(f"why {name}", await one.why(node, window))
        yield Answer(f"impact {name}", await one.impact(node, window))


def _whole(reading: Reading) -> Window:
    """Return the window in which all that verdicts rest on was recorded."""
    began = [
        stream.began_at
        for stream in reading.streams
        if reads_nodes(stream.source, stream.resource)
    ]
    return Window(max(at for at in began if at is not None), None)


@cache
def _executor() -> Executor:
    return Executor()


@cache
def _queries() -> Mapping[str, str]:
    """Return the queries of the page by the names of their constants."""
    texts = {
        name: text
        for file in sorted(QUERIES.glob("*.js"))
        for name, text in TEMPLATE.findall(file.read_text())
    }

    def whole(text: str) -> str:
        return EXPRESSION.sub(lambda one: whole(texts[one[1]]), text)

    return {
        name: whole(text)
        for name, text in texts.items()
        if text.startswith("query")
    }


def _plain(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables as a client sends them."""
    plain: dict[str, Any] = orjson.loads(orjson.dumps(variables))
    return plain


def _json(document: Any) -> str:
    return json_bytes(document, indented=True).decode()
