"""Answers of `recorder get KIND`: objects of a kind as they were at a time."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from recorder.answers.kinds import Kind
from recorder.answers.log_questions import ObjectsQuestion
from recorder.answers.moments import covered_at
from recorder.answers.naming import named
from recorder.answers.nouns import Version
from recorder.answers.ports import Reading
from recorder.answers.queries import ObjectNames, ObjectsBefore
from recorder.answers.references import kinds_called, object_named
from recorder.answers.text.shown import Item, Listing
from recorder.answers.text.table import Cell, Column, age
from recorder.facts import appearance
from recorder.facts.classify.times import moment
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.coverage.hole import Hole
from recorder.model.document import Document
from recorder.model.errors import NotFoundError
from recorder.model.moment import shifted, written
from recorder.model.observation import WATCH
from recorder.model.reference import ObjectIdentity, Resource
from recorder.model.state import NO_STATE, ObjectState
from recorder.model.window import Window

MOMENT = timedelta(microseconds=1)
"""The resolution of times."""

AT_ONCE = 500
"""Objects whose documents are in memory at the same time."""

NAMES_MAX = 20_000
"""As many names as a log returns of a kind."""

CONDITIONS = (
    *("Complete", "Completed", "Succeeded", "Failed", "Suspended"),
    *("Ready", "Available", "Admitted", "Established"),
)
"""Conditions that say how an object without a phase is, first one first."""

UNREAD = (
    "archived days that are not read; objects are missing that last changed"
    " in them and no longer exist"
)

WANTED = ("replicas", "completions", "parallelism")
"""Fields that say how many parts of an object are wanted."""


class ObjectAtTime(Document, frozen=True, kw_only=True):
    """One object as it was."""

    kind: str
    group: str
    namespace: str
    name: str
    uid: str | None

    status: str | None
    """Its phase, or what its conditions say; null where neither does."""

    ready: str | None
    """`READY/WANTED`, of kinds that have several parts."""

    node: str | None
    """The node that it concerns."""

    owner: str | None
    """Its controller, as `KIND/NAME`."""

    gpus: int | None
    """That a Pod asks for."""

    created_at: datetime | None
    labels: Mapping[str, str]


class ObjectsSubject(Document, frozen=True, kw_only=True):
    """Which kind, and when."""

    cluster: str
    kind: str
    namespace: str | None
    at: datetime | None


class Objects(Document, frozen=True, kw_only=True):
    """The objects of a kind that there were at a time, by name."""

    question: ObjectsSubject
    objects: Sequence[ObjectAtTime]
    more: bool
    """Whether there were more than requested."""

    coverage: Coverage


async def ask_objects(
    reading: Reading, question: ObjectsQuestion, *, now: datetime
) -> Objects:
    """Return the objects of a kind that existed at a time, as they were.

    Raises:
        NotFoundError: the log records no such kind, or an object that is
            named did not exist.
    """
    at = question.at
    await reading.reach(at, at)
    kinds = await kinds_called(reading, question.kind)
    end = at or reading.log.observed_at
    found: list[ObjectAtTime] = []
    full = False
    for kind in kinds:
        places = await reading.names(ObjectNames(kind.filed))
        full = full or len(places) >= NAMES_MAX
        found += await _objects(reading, question, kind, places, end)
    if not found and not any(
        _reads(kinds, s.resource) for s in reading.streams
    ):
        msg = f'{reading.log.named} does not record "{question.kind}"'
        raise NotFoundError(msg, advice="`recorder status` lists what it does")
    _check_named(question, found)
    found.sort(key=lambda one: (one.namespace, one.name, one.group))
    coverage = await covered_at(
        reading,
        at,
        now=now,
        reads=lambda source, resource: (
            source == WATCH and _reads(kinds, resource)
        ),
    )
    return Objects(
        question=ObjectsSubject(
            cluster=reading.log.cluster_name,
            kind=question.kind,
            namespace=question.namespace,
            at=end,
        ),
        objects=found[: question.limit],
        more=full or len(found) > question.limit,
        coverage=await _with_unread(reading, at, coverage),
    )


async def _with_unread(
    reading: Reading, at: datetime | None, coverage: Coverage
) -> Coverage:
    """Return a coverage with the archived days that were not read.

    A few are read before a time. What last changed in earlier days, and is
    gone by now, is in none of them.
    """
    if at is None:
        return coverage
    there = await reading.archived(Window(at, at))
    begins = (await reading.archived(Window(None, at))).begins
    # What is kept includes the newest versions of the days before it.
    if begins is None or not (there.read or there.holes):
        return coverage
    unread = Hole(until=begins, source="recorder", reason=UNREAD)
    return replace(coverage, complete=False, gaps=[unread, *coverage.gaps])


def _reads(kinds: Sequence[Kind], resource: str) -> bool:
    """Return whether a stream reads objects of one of some kinds."""
    try:
        of = Resource.parse(resource)
    except ValueError:
        return False
    return any((of.group, of.plural) == (k.group, k.plural) for k in kinds)


def _check_named(
    question: ObjectsQuestion, found: Sequence[ObjectAtTime]
) -> None:
    """Check that each named object existed.

    Raises:
        NotFoundError: one did not.
    """
    missing = set(question.names) - {one.name for one in found}
    if missing:
        name = named(question.kind, question.namespace or "", min(missing))
        msg = f'there was no "{name}" at that time'
        raise NotFoundError(msg, advice=f"see `recorder history {name}`")


async def _objects(
    reading: Reading,
    question: ObjectsQuestion,
    kind: Kind,
    places: Sequence[tuple[str, str]],
    at: datetime | None,
) -> list[ObjectAtTime]:
    if at is None:
        return []
    space = question.namespace
    wanted = set(question.names)
    names = sorted(
        {
            name
            for namespace, name in places
            if space in {None, namespace} and (not wanted or name in wanted)
        }
    )
    found: list[ObjectAtTime] = []
    for first in range(0, len(names), AT_ONCE):
        versions = await reading.states(
            ObjectsBefore(
                kinds=kind.filed,
                names=names[first : first + AT_ONCE],
                namespace=space,
                at=shifted(at, MOMENT),
            )
        )
        found += [
            _known(kind, version)
            for version in versions.values()
            if not version.gone
        ]
    return found


def _known(kind: Kind, version: Version) -> ObjectAtTime:
    appeared = appearance(version.raw, version.resource)
    state = NO_STATE if appeared is None else appeared.state
    identity = version.identity
    owners = [one for one in state.owners if one.controller]
    owner = None
    if owners:
        kind_of_owner = (owners[0].kind or "").lower()
        owner = named(kind_of_owner, "", owners[0].name or "")
    return ObjectAtTime(
        kind=kind.kind,
        group=kind.group,
        namespace=identity.namespace,
        name=identity.name,
        uid=state.uid or identity.uid,
        status=_status(state),
        ready=_ready(state),
        node=state.node,
        owner=owner,
        gpus=state.gpus or None,
        created_at=moment(state.created_at),
        labels=state.labels,
    )


def _status(state: ObjectState) -> str | None:
    """Return the status of an object, about as kubectl writes it."""
    if state.deletion:
        return "Terminating"
    fields = state.fields
    for field in ("reason", "phase", "state"):
        if isinstance(value := fields.get(field), str) and value:
            return value
    for name in CONDITIONS:
        condition = state.conditions.get(name)
        if condition is not None and condition.status == "True":
            return name
    return "Running" if fields.get("active") else None


def _ready(state: ObjectState) -> str | None:
    """Return how many parts are ready, of how many that are wanted."""
    wanted = [state.fields.get(name) for name in WANTED]
    most = next((one for one in wanted if one is not None), None)
    if most is None:
        return None
    ready = state.fields.get("ready") or 0
    done = state.fields.get("succeeded") or 0
    return f"{int(ready) + int(done)}/{most}"


COLUMNS = (
    Column("NAMESPACE", rank=2),
    Column("NAME"),
    Column("STATUS"),
    Column("READY", rank=4),
    Column("AGE", rank=3),
    Column("NODE", rank=1),
    Column("GPUS", rank=5),
    Column("OWNER", wide=True),
    Column("UID", wide=True),
)


def _cells(one: ObjectAtTime, at: datetime | None) -> Sequence[Cell]:
    """Return an object as a row of the table, with its age at that time."""
    created = one.created_at
    return (
        one.namespace or None,
        one.name,
        one.status,
        one.ready,
        None if created is None or at is None else age(created, at),
        one.node,
        one.gpus,
        one.owner,
        one.uid,
    )


def _name_of(one: ObjectAtTime) -> str:
    return object_named(
        ObjectIdentity(one.group, one.kind, one.namespace, one.name, one.uid)
    )


def shown(
    answer: Objects, question: ObjectsQuestion, *, verbose: bool
) -> Listing:
    """Return an answer as `recorder get KIND` prints it."""
    del verbose
    at = answer.question.at
    notes = []
    if question.at is None and at is not None:
        notes.append(f"as of {written(at)}, the end of the record")
    if answer.more:
        notes.append(f"only the first {len(answer.objects)}: see --limit")
    return Listing(
        columns=COLUMNS,
        items=[
            Item(_name_of(one), _cells(one, at), one) for one in answer.objects
        ],
        whole=lambda objects: replace(answer, objects=objects),
        nothing=f"no {question.kind} recorded at that time",
        text_notes=notes,
    )
