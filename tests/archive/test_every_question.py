"""Each question asked through each wrapper of the log's port.

Of a log in the database, of the same log when older days lie in the archive,
and of both as a reader may see them.
"""

import asyncio
import pkgutil
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.resolvers.visible.reading import VisibleReading
from api.resolvers.visible.sight import Sight
from recorder import answers as questions
from recorder.answers.around import ask_nearest
from recorder.answers.audit_coverage import ask_audit_coverage
from recorder.answers.diff import ask_difference
from recorder.answers.entries import ask_entries
from recorder.answers.entry import ask_entry, ask_opened
from recorder.answers.gaps import ask_gaps
from recorder.answers.history import ask_history
from recorder.answers.html import html
from recorder.answers.impact import ask_impact
from recorder.answers.incident import ask_incident
from recorder.answers.incidents import ask_incidents
from recorder.answers.job_questions import JobsQuestion
from recorder.answers.jobs import ask_disruptions, ask_jobs
from recorder.answers.log_questions import (
    DifferenceQuestion,
    End,
    EntryQuestion,
    HistoryQuestion,
    ObjectQuestion,
    ObjectsQuestion,
    OpenedQuestion,
    SearchQuestion,
)
from recorder.answers.markdown import markdown
from recorder.answers.metrics import ask_metrics
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    ConditionsQuestion,
    GroupBy,
    ImpactQuestion,
    IncidentsQuestion,
    MetricsQuestion,
    NodesQuestion,
    PostmortemQuestion,
    ReplayQuestion,
    StatsQuestion,
    TimelineQuestion,
    WhyQuestion,
    WhyWorkloadQuestion,
    WorkloadQuestion,
)
from recorder.answers.nodes import ask_labels, ask_nodes
from recorder.answers.objects import ask_objects
from recorder.answers.place_questions import PlaceQuestion, PlacesQuestion
from recorder.answers.placements import ask_placements
from recorder.answers.ports import Reading
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.reliability import OF_WORKLOADS, ask_reliability
from recorder.answers.replay import ask_replay
from recorder.answers.search import ask_search
from recorder.answers.series import ask_conditions
from recorder.answers.show import ask_object
from recorder.answers.stats import ask_stats
from recorder.answers.timeline import ask_dpus, ask_timeline
from recorder.answers.topology import ask_place, ask_places
from recorder.answers.who import ask_who
from recorder.answers.why import ask_why
from recorder.answers.why_named import ask_why_named
from recorder.answers.why_workload import ask_why_workload
from recorder.answers.workload import ask_workload
from recorder.explain.knowledge import shipped
from recorder.model.access import Right
from recorder.model.entry import Entry
from recorder.model.errors import NotFoundError
from recorder.model.fact import StoredFact
from recorder.model.outcomes import WorkloadState
from recorder.model.place import Place
from recorder.model.reference import EntryName
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.wiring.archived import ArchivedReading
from recorder.wiring.reading import open_logs
from tests.conftest import TEMPLATE
from tests.retention.test_dropping import run
from tests.support.days import (
    noon,
    write_a_loss,
    write_a_queue,
    write_days,
    write_metrics,
)
from tests.support.postgres import Database, DatabaseServer, fresh_database

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)
WHOLE = Window(noon(11), NOW)
OLD = noon(10) + HOUR
NODE = "gpu-001"
PLACE = Place.parse("rack/r1")
POD = Reference.parse("pod/stays", "train")
WORKER = Reference.parse("pod/worker", "train")
RULES = shipped()

Ask = Callable[[Reading], Awaitable[Any]]


async def first_incident(reading: Reading) -> Any:
    """Ask for the incident that the first of all verdicts belongs to."""
    found = await ask_incidents(
        reading, IncidentsQuestion(window=WHOLE), RULES, now=NOW
    )
    if not found.incidents:
        msg = "there is no incident"
        raise NotFoundError(msg)
    name = EntryName.parse(found.incidents[0].id)
    return await ask_incident(reading, name, RULES, now=NOW)


async def no_place(reading: Reading) -> str:
    """Ask for a place: no node of these days has a label of one."""
    with pytest.raises(NotFoundError) as refused:
        await ask_place(
            reading, PlaceQuestion(name=PLACE, window=WHOLE), RULES, now=NOW
        )
    return str(refused.value)


QUESTIONS: Mapping[str, Ask] = {
    "ask_audit_coverage": lambda r: ask_audit_coverage(r, WHOLE, now=NOW),
    "ask_conditions": lambda r: ask_conditions(
        r, ConditionsQuestion(nodes=[NODE], window=WHOLE), RULES, now=NOW
    ),
    "ask_difference": lambda r: ask_difference(
        r,
        DifferenceQuestion(
            object=Reference.parse(f"node/{NODE}", None),
            before=End(at=OLD),
            after=End(at=noon(7) + HOUR),
        ),
        now=NOW,
    ),
    "ask_disruptions": lambda r: ask_disruptions(
        r, JobsQuestion(window=WHOLE), RULES, now=NOW
    ),
    "ask_dpus": lambda r: ask_dpus(r, NODE, WHOLE, RULES, now=NOW),
    "ask_entries": lambda r: ask_entries(
        r, EntryQuestion(window=WHOLE, words=True, limit=7), now=NOW
    ),
    "ask_entry": lambda r: ask_entry(r, EntryName(1, 2)),
    "ask_gaps": lambda r: ask_gaps(r, WHOLE, now=NOW),
    "ask_history": lambda r: ask_history(
        r, HistoryQuestion(object=POD, window=WHOLE, limit=None), now=NOW
    ),
    "ask_impact": lambda r: ask_impact(
        r,
        ImpactQuestion(nodes=(NODE,), rack=None, labels=(), window=WHOLE),
        RULES,
        now=NOW,
    ),
    "ask_incident": first_incident,
    "ask_incidents": lambda r: ask_incidents(
        r, IncidentsQuestion(window=WHOLE), RULES, now=NOW
    ),
    "ask_jobs": lambda r: ask_jobs(
        r, JobsQuestion(window=WHOLE), RULES, now=NOW
    ),
    "ask_labels": lambda r: ask_labels(r, None, now=NOW),
    "ask_nearest": lambda r: ask_nearest(r, Window(noon(9), noon(8))),
    "ask_metrics": lambda r: ask_metrics(
        r, MetricsQuestion(nodes=[NODE], window=WHOLE), RULES, now=NOW
    ),
    "ask_nodes": lambda r: ask_nodes(
        r, NodesQuestion(at=OLD), shipped(), now=NOW
    ),
    "ask_place": no_place,
    "ask_places": lambda r: ask_places(
        r, PlacesQuestion(at=OLD), RULES, now=NOW
    ),
    "ask_object": lambda r: ask_object(
        r, ObjectQuestion(object=POD, at=OLD), now=NOW
    ),
    "ask_objects": lambda r: ask_objects(
        r, ObjectsQuestion(kind="pods", at=OLD), now=NOW
    ),
    "ask_opened": lambda r: ask_opened(
        r, OpenedQuestion(entry=EntryName(1, 2), all_fields=True), now=NOW
    ),
    "ask_placements": lambda r: ask_placements(r, NODE, WHOLE),
    "ask_postmortem": lambda r: ask_postmortem(
        r, PostmortemQuestion(node=NODE, window=WHOLE), RULES, now=NOW
    ),
    "ask_reliability": lambda r: ask_reliability(
        r, OF_WORKLOADS, WHOLE, RULES, now=NOW
    ),
    "ask_replay": lambda r: ask_replay(
        r, ReplayQuestion(node=NODE, window=WHOLE), RULES, now=NOW
    ),
    "ask_search": lambda r: ask_search(
        r, SearchQuestion(text="stays", limit=9), now=NOW
    ),
    "ask_stats": lambda r: ask_stats(
        r, StatsQuestion(window=WHOLE, by=tuple(GroupBy)), RULES, now=NOW
    ),
    "ask_timeline": lambda r: ask_timeline(
        r, TimelineQuestion(node=NODE, window=WHOLE), RULES, now=NOW
    ),
    "ask_who": lambda r: ask_who(r, ObjectQuestion(object=POD), now=NOW),
    "ask_why": lambda r: ask_why(
        r, WhyQuestion(node=NODE, window=WHOLE), RULES, now=NOW
    ),
    "ask_why_named": lambda r: ask_why_named(
        r,
        WhyWorkloadQuestion(object=Reference.bare("worker"), window=WHOLE),
        RULES,
        now=NOW,
    ),
    "ask_why_workload": lambda r: ask_why_workload(
        r, WhyWorkloadQuestion(object=WORKER, window=WHOLE), RULES, now=NOW
    ),
    "ask_workload": lambda r: ask_workload(
        r, WorkloadQuestion(object=WORKER, window=WHOLE), RULES, now=NOW
    ),
}

UNEQUAL = {"coverage", "hiding", "now", "log"}
"""What says until when the record is, or what it may hide."""


@dataclass(frozen=True)
class Rights:
    """Who holds every right, or none."""

    cluster_uid: str
    everything: bool

    async def held(self, wanted: Collection[Right]) -> Collection[Right]:
        return wanted if self.everything else ()


def seen(reading: Reading, *, everything: bool) -> VisibleReading:
    rights = Rights(reading.log.cluster_uid, everything)
    sight = Sight(rights, reading)
    return VisibleReading(reading, sight, whole=everything)


def plain(found: object) -> object:
    """Return an answer in parts that can be compared."""
    if is_dataclass(found) and not isinstance(found, type):
        names = [field.name for field in fields(found)]
    elif isinstance(found, msgspec.Struct):
        names = list(found.__struct_fields__)
    elif isinstance(found, Mapping):
        return {str(key): plain(value) for key, value in found.items()}
    elif isinstance(found, set | frozenset):
        return sorted(map(repr, found))
    elif isinstance(found, Sequence) and not isinstance(found, str | bytes):
        return [plain(one) for one in found]
    else:
        is_value = type(found).__eq__ is not object.__eq__
        return found if is_value else type(found).__name__
    parts = {n: plain(getattr(found, n)) for n in names if n not in UNEQUAL}
    return {"a": type(found).__name__, **parts}


async def answered(reading: Reading, ask: Ask) -> object:
    """Ask a question of a log that ends where its story does."""
    found = await ask(reading)
    if not hasattr(found, "pages"):
        return plain(found)
    items = [one async for page in found.pages(reading) for one in page]
    return plain(found), plain(items)


@dataclass(frozen=True)
class World:
    """A log with days in the archive, and what was answered before."""

    database: Database
    folder: Path
    size: int
    before: Mapping[str, object]
    seen_before: Mapping[str, object]

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Reading]:
        async with opened(self.database, self.folder) as reading:
            assert isinstance(reading, ArchivedReading)
            yield await reading.pinned(self.size)


@asynccontextmanager
async def opened(database: Database, folder: Path) -> AsyncIterator[Reading]:
    settings = Settings(
        database_url=database.dsn("reader"), data_dir=folder / "data"
    )
    async with open_logs(settings) as logs:
        yield await logs.read(1)


async def written(database: Database, folder: Path) -> World:
    await write_days(database)
    await write_a_queue(database, 9)
    await write_a_loss(database, 6)
    await write_metrics(database, 6)
    async with opened(database, folder) as now:
        size = now.log.size
        reading = await now.pinned(size)
        before = {n: await answered(reading, q) for n, q in QUESTIONS.items()}
        visible = seen(reading, everything=True)
        again = {n: await answered(visible, q) for n, q in QUESTIONS.items()}
    await run(database, folder / "archive")
    return World(database, folder, size, before, again)


@pytest.fixture(scope="module")
def world(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("every")
    with asyncio.Runner() as runner:
        fresh = fresh_database(embedded_server, TEMPLATE)
        database = runner.run(fresh.__aenter__())
        try:
            yield runner.run(written(database, folder))
        finally:
            runner.run(fresh.__aexit__(None, None, None))


def test_every_question_is_asked() -> None:
    modules = pkgutil.iter_modules(questions.__path__, "recorder.answers.")
    there = {
        name
        for module in modules
        for name, one in vars(import_module(module.name)).items()
        if name.startswith("ask_") and one.__module__ == module.name
    }

    assert there == QUESTIONS.keys()


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_question_has_one_answer_through_each_wrapper(
    world: World, name: str
) -> None:
    async with world.opened() as reading:
        over_archive = await answered(reading, QUESTIONS[name])
        visible = seen(reading, everything=True)
        both = await answered(visible, QUESTIONS[name])

    assert world.seen_before[name] == world.before[name]
    assert over_archive == world.before[name]
    assert both == world.before[name]


@pytest.mark.parametrize("name", QUESTIONS)
async def test_who_has_no_right_gets_no_entry_fact_or_name(
    world: World, name: str
) -> None:
    async with world.opened() as reading:
        hidden = seen(reading, everything=False)
        try:
            found = str(await answered(hidden, QUESTIONS[name]))
        except NotFoundError:
            return
    for kind in (Entry, StoredFact):
        assert f"'{kind.__name__}'" not in found
    for word in ("stays", "day-", "worker", "queued"):
        assert word not in found


async def test_charts_are_drawn_from_a_day_of_the_archive(
    world: World,
) -> None:
    async with world.opened() as reading:
        found = await QUESTIONS["ask_metrics"](reading)
        report = await QUESTIONS["ask_postmortem"](reading)
        claim = await ask_entry(reading, found.kept[0].entry)

    (chart,) = found.kept[0].charts
    assert chart.says == (
        "gpu-001: GPU 3 up to 83.9 °C, by DCGM_FI_DEV_GPU_TEMP"
    )
    assert len(found.kept[0].series[0].values) == 240
    assert b'"values":[60' in claim.raw
    # A temperature says nothing of this loss, which has no fault.
    says_nothing = "No metric that was kept speaks of this fault"
    assert says_nothing in markdown(report)
    assert "<figure>" not in html(report)
    drawn = msgspec.structs.replace(report, metrics=found.kept)
    page = html(drawn)
    assert says_nothing not in page
    assert f'<path class="line first" d="{chart.lines[0].path}">' in page
    assert f'<path d="{chart.missing}"/>' in page
    assert chart.missing
    assert f"<figcaption>{chart.says}</figcaption>" in page
    assert f"`{chart.sparkline}`" in markdown(drawn)


async def test_a_job_without_pods_waits_since_a_day_of_the_archive(
    world: World,
) -> None:
    async with world.opened() as reading:
        found = await ask_jobs(
            reading, JobsQuestion(window=WHOLE), RULES, now=NOW
        )

    rows = {row.name: row for row in found.workloads}
    assert rows["queued"].state == WorkloadState.SUSPENDED
    assert rows["queued"].waiting_since == noon(9)
    assert rows["stays"].state == WorkloadState.DELETED
