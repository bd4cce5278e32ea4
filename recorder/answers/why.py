"""Answers of `recorder why`: verdicts on what happened to a node."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from textwrap import wrap

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from recorder.answers.beginning import reach_begun
from recorder.answers.loading.fleet import LOOKBACK
from recorder.answers.loading.nodes import (
    hiding,
    is_authored,
    judge_nodes,
    reads_causes,
)
from recorder.answers.node_questions import WhyQuestion
from recorder.answers.ports import Reading
from recorder.answers.queries import LastSign
from recorder.answers.references import find_node
from recorder.answers.sentences import counted
from recorder.answers.text.lines import plain
from recorder.answers.text.shown import Text
from recorder.explain.knowledge import Knowledge
from recorder.explain.sentences import lasts
from recorder.explain.verdict import Decided, Evidence, Step, Verdict
from recorder.facts.coverage.account import Account, read_account
from recorder.facts.coverage.coverage import Coverage, cover
from recorder.model.document import Document
from recorder.model.fact import FactKind, StoredFact
from recorder.model.moment import shifted, written
from recorder.model.observation import EVENTS, LEASES, NODES, PODS
from recorder.model.outcomes import Mode
from recorder.model.window import Window

MOMENT = timedelta(seconds=1)

SOON = timedelta(minutes=5)
"""How long after the time of a question an incident may begin and still be
meant: people remember times inexactly."""


class WhySubject(Document, frozen=True, kw_only=True):
    """Which node, and when."""

    cluster: str
    node: str
    since: datetime | None
    until: datetime | None
    at: datetime | UnsetType = UNSET


class Why(Document, frozen=True, kw_only=True):
    """What happened to a node, with confidence."""

    question: WhySubject

    verdicts: Sequence[Verdict]
    """In order; empty if no incident is recorded."""

    coverage: Coverage


async def ask_why(
    reading: Reading,
    question: WhyQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Why:
    """Find what happened to a node in a window, or last.

    Raises:
        NotFoundError: the log has no such node.
    """
    reached = _reached(question)
    await reading.reach(reached.since, reached.until)
    await find_node(reading, question.node)
    account, found = await _judge(reading, question, knowledge, now=now)
    if await reach_begun(reading, reached, found):
        account, found = await _judge(reading, question, knowledge, now=now)
    end = None
    if question.at is not None:
        spoken, end = _spoken(question.at, found, account.end)
        account = await _account(reading, spoken, now=now)
    return Why(
        question=WhySubject(
            cluster=reading.log.cluster_name,
            node=question.node,
            since=question.window.since,
            until=question.window.until,
            at=question.at or UNSET,
        ),
        verdicts=found,
        coverage=cover(
            account,
            end=end,
            times=[verdict.began_at for verdict in found],
            hiding=hiding(found),
            proven_by={_shown_by(one.effect.stored) for one in found} or None,
            authored=is_authored,
        ),
    )


async def _account(
    reading: Reading, window: Window, *, now: datetime
) -> Account:
    return await read_account(
        reading,
        window,
        now=now,
        reads=reads_causes,
        facts=True,
        needs=(NODES,),
    )


def _spoken(
    at: datetime, found: Sequence[Verdict], end: datetime | None
) -> tuple[Window, datetime | None]:
    """Return the window of an answer about a moment, and where it ends.

    The window has no end of its own, unless the moment is not recorded yet.
    """
    begun = [verdict.began_at for verdict in found]
    ended = [e.at for v in found for e in v.evidence]
    since, until = min([at, *begun]), max([at, *ended])
    until = max(until, shifted(since, MOMENT))
    if end is None or at > end:
        return Window(since, until), None
    return Window(since, None), until


def _shown_by(stored: StoredFact) -> str:
    """Return the resource of the stream that a fact comes from."""
    fact = stored.fact
    if fact.kind is FactKind.EVENT:
        return EVENTS
    if fact.kind is FactKind.LEASE_SILENT:
        return LEASES
    of_pod = fact.about == "Pod"
    return PODS if of_pod else NODES


def _reached(question: WhyQuestion) -> Window:
    """Return the window whose holes can affect verdicts."""
    at = question.at
    if at is None:
        return question.window
    return Window(shifted(at, -LOOKBACK), shifted(at, LOOKBACK))


async def _judge(
    reading: Reading,
    question: WhyQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> tuple[Account, Sequence[Verdict]]:
    """Return the account of the log, and the verdicts of the question."""
    account = await _account(reading, _reached(question), now=now)
    windows: Sequence[Window] = [question.window]
    names = [question.node]
    is_last = question.window == Window()
    if is_last:
        signs = await reading.states(LastSign(question.node))
        windows = _windows(question.at, signs.get(question.node))
    for window in windows:
        found = await judge_nodes(reading, names, window, account, knowledge)
        chosen = _at(found, question.at) if is_last else found
        if chosen:
            return account, chosen
    return account, []


def _windows(at: datetime | None, last: datetime | None) -> Sequence[Window]:
    """Return the windows to search for the last incident, in order."""
    if last is None:
        return []
    end = None if at is None else shifted(at, LOOKBACK)
    return Window(shifted(at or last, -LOOKBACK), end), Window(None, end)


def _at(found: Sequence[Verdict], at: datetime | None) -> Sequence[Verdict]:
    """Return the latest verdict, or those at a time or just before."""
    if at is None:
        return found[-1:]
    going_on = [
        v
        for v in found
        if v.began_at <= at and (v.over_at is None or v.over_at >= at)
    ]
    before = [v for v in found if v.at <= at]
    soon = [v for v in found if v.began_at <= shifted(at, SOON)]
    return going_on or before[-1:] or soon[:1]


WIDTH = 100
"""Columns of text for people."""

SAYS_MAX = 100
"""Characters of the text of one sign; an Event may have a thousand."""


def verdict_lines(verdict: Verdict, *, verbose: bool = False) -> Iterator[str]:
    """Yield a verdict as lines: the sentence, then the steps of its path.

    ``verbose`` shows all records of the verdict in full instead.
    """
    yield from wrap(plain(verdict.sentence), WIDTH)
    yield ""
    yield from _facts_of(verdict)
    yield ""
    yield from _records(verdict) if verbose else path_lines(verdict)
    if verdict.rivals or verdict.gaps or verdict.missing:
        yield ""
    for rival in verdict.rivals:
        word = "excluded" if rival.excluded else "possible"
        yield from row_lines(word, f"{rival.cause}: {rival.because}")
    for against in verdict.contradictions:
        text = f"{against.entry} {against.says}: {against.but}"
        yield from row_lines("conflict", text)
    if verdict.gaps:
        named = ", ".join(map(str, verdict.gaps))
        yield from row_lines(
            "gap", f"{named}: part of this time was not recorded"
        )
    for one in verdict.missing:
        yield from row_lines(
            "missing", f"{one.evidence}: would show {one.would_tell}"
        )


def path_lines(
    verdict: Verdict, *, dated: datetime | None = None
) -> Iterator[str]:
    """Yield the steps, each with its first entry and the count of others.

    A record of the time ``dated`` is a step of its own.
    """
    steps = list(verdict.steps)
    if dated is not None:
        steps = _with_dating(steps, verdict.evidence, dated)
    named = [_named(step) for step in steps]
    width = max((len(name) for name in named), default=0)
    day = None
    for name, step in zip(named, steps, strict=True):
        if step.at.date() != day:
            day = step.at.date()
            yield f"  {day:%Y-%m-%d}"
        head = f"  {step.at:%H:%M:%S}  {step.role:8}  {name:{width}}  "
        yield f"{head}{cut(step_says(step))}"
    in_steps = {entry for step in steps for entry in step.entries}
    others = {e.entry for e in verdict.evidence} - in_steps
    if more := len(others) + verdict.evidence_left_out:
        yield from row_lines("...", f"{counted(more, 'more record')}: see -v")


def _with_dating(
    steps: Sequence[Step], evidence: Sequence[Evidence], dated: datetime
) -> list[Step]:
    """Return steps with the record of a time, unless one has its second."""
    found = next(
        (e for e in evidence if dated in {e.occurred_at, e.observed_at}), None
    )
    second = dated.replace(microsecond=0)
    seconds = {step.at.replace(microsecond=0) for step in steps}
    if found is None or second in seconds:
        return [*steps]
    entry = found.entry
    rest = [
        replace(
            step,
            entries=[
                step.entries[0],
                *(other for other in step.entries[1:] if other != entry),
            ],
        )
        for step in steps
    ]
    shown = Step(
        role=found.role,
        at=dated,
        says=found.says,
        actor=None,
        entries=[entry],
    )
    place = sum(step.at < dated for step in rest)
    return [*rest[:place], shown, *rest[place:]]


def _named(step: Step) -> str:
    """Return the first entry of a step, and the count of others."""
    first, *others = step.entries
    return f"{first} +{len(others)}" if others else str(first)


def step_says(step: Step) -> str:
    """Return the text of a step, with its actor."""
    actor = step.actor
    if actor is None or not (actor.name or actor.tool):
        return step.says
    who = actor.name or f"someone using {actor.tool}"
    return f"{who}: {step.says}"


def cut(said: str) -> str:
    """Return the text of a record, shortened to one line."""
    said = plain(said)
    return f"{said[: SAYS_MAX - 1]}…" if len(said) > SAYS_MAX else said


def _records(verdict: Verdict) -> Iterator[str]:
    every = verdict.evidence
    width = max((len(str(e.entry)) for e in every), default=0)
    day = None
    for one in every:
        if one.at.date() != day:
            day = one.at.date()
            yield f"  {day:%Y-%m-%d}"
        name = str(one.entry).ljust(width)
        clock = one.at.strftime("%H:%M:%S")
        role = one.role.ljust(8)
        yield f"  {clock}  {role}  {name}  {plain(one.says)}"
    if verdict.evidence_left_out:
        yield from row_lines("...", _without(verdict))


def row_lines(name: str, value: str) -> Iterator[str]:
    """Yield a name and its value, wrapped."""
    first = f"  {name:8} "
    yield from wrap(
        plain(value),
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
    )


def _without(verdict: Verdict) -> str:
    """Return how many records are omitted, and the command to show them."""
    first, last = (verdict.evidence[n].at for n in (0, -1))
    until = last + timedelta(seconds=1)
    more = counted(verdict.evidence_left_out, "more record")
    return (
        f"{more}: recorder log --facts "
        f"--node {verdict.node} --since {written(first)} "
        f"--until {written(until)} --limit all"
    )


def _mode(verdict: Verdict) -> str:
    """Return whether it was planned, as far as that is known."""
    unknown = verdict.mode is Mode.UNKNOWN
    return "not recorded whether planned" if unknown else verdict.mode


def _decider(decided: Decided) -> str:
    """Return who decided, or the tool if only that is known."""
    actor = decided.actor
    if actor.tool:
        return f"someone using {actor.tool}"
    return actor.name or "unknown"


def _boots(verdict: Verdict) -> tuple[str, str] | None:
    """Return the boot ids before and after, if they differ."""
    before, after = verdict.boot_id_before, verdict.boot_id_after
    return None if before == after else (before or "none", after or "none")


def _facts_of(verdict: Verdict) -> Iterator[str]:
    rows = [
        ("happened", f"{verdict.happened}, {_mode(verdict)}"),
        ("cause", f"{verdict.cause} ({verdict.confidence})"),
    ]
    decided = verdict.decision
    if decided is not None:
        who = _decider(decided)
        rows.append(("decided", f"{decided.decision.value} by {who}"))
    booted = _boots(verdict)
    if booted is not None:
        rows.append(("boot id", " -> ".join(booted)))
    rows.append(("at", written(verdict.at)))
    back = verdict.back_in_service_at
    if back is not None:
        rows.append(("back", written(back)))
    if verdict.last_stage:
        stage = verdict.last_stage
        rows.append(("stage", f"{stage.stage} at {written(stage.at)}"))
    rows += [
        (duration.kind.value, lasts(duration))
        for duration in (verdict.down, verdict.away)
        if duration is not None
    ]
    if verdict.clock_skew_seconds:
        rows.append(("clock", _skewed(verdict.clock_skew_seconds)))
    for name, value in rows:
        yield from row_lines(name, value)


def _skewed(seconds: float) -> str:
    """Return by how much the clock of a node is wrong, in words."""
    side = "ahead" if seconds > 0 else "behind"
    return (
        f"the node's clock is {abs(seconds):.0f} s {side}; its"
        " times are corrected"
    )


def verdict_rows(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Yield the rows of a verdict in a postmortem, as names and values."""
    yield "Cause", f"{verdict.cause} ({verdict.confidence})"
    yield "Mode", verdict.mode
    if verdict.last_stage:
        yield "Last stage", verdict.last_stage.stage
    if verdict.decision is not None:
        decided = verdict.decision
        yield "Decided", f"{decided.decision.value} by {_decider(decided)}"
    booted = _boots(verdict)
    if booted is not None:
        yield "Boot ID", " → ".join(booted)
    for title, duration in (
        ("Down", verdict.down),
        ("Out of service", verdict.away),
    ):
        if duration is not None:
            yield title, lasts(duration)
    if verdict.back_in_service_at is not None:
        yield "Back in service", written(verdict.back_in_service_at)


def doubts(verdict: Verdict) -> Sequence[tuple[str, Sequence[str]]]:
    """Return what weakens a verdict, as lists with titles."""
    return [
        (
            "Other causes considered",
            [
                f"{rival.cause},"
                f" {'excluded' if rival.excluded else 'possible'}:"
                f" {rival.because}"
                for rival in verdict.rivals
            ],
        ),
        (
            "Conflicting records",
            [
                f"{against.entry} {against.says}: {against.but}"
                for against in verdict.contradictions
            ],
        ),
        (
            "Evidence not shown",
            [_without(verdict)] if verdict.evidence_left_out else [],
        ),
        (
            "Gaps that affect this verdict",
            [f"gap {gap}" for gap in verdict.gaps],
        ),
    ]


def shown(answer: Why, question: WhyQuestion, *, verbose: bool) -> Text:
    """Return an answer as `recorder why` prints it."""
    lines = (
        []
        if answer.verdicts
        else [f"no incidents recorded for {question.node}"]
    )
    for place, verdict in enumerate(answer.verdicts):
        lines += [""] if place else []
        lines += verdict_lines(verdict, verbose=verbose)
    return Text(document=answer, lines=lines, judged=True)
