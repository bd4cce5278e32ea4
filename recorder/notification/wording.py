"""The text of messages, for all shapes."""

import shlex
from collections.abc import Iterator, Sequence
from urllib.parse import quote, urlencode

from recorder.answers.page_address import view
from recorder.answers.sentences import gpu_hours
from recorder.model.moment import written
from recorder.model.outcomes import Cause
from recorder.notification.message import Kind, Message, Stage, Subject
from recorder.notification.rules import Rule

MISSING = "unknown"
UNRECORDED = "cause unknown"
WORK_SHOWN = 5

COMPARED = (
    ("happened", "happened"),
    ("cause", "cause"),
    ("confidence", "confidence"),
    ("mode", "mode"),
    ("decided by", "decided_by"),
    ("carried out by", "carried_out_by"),
)


def headline(message: Message) -> str:
    """Return the first line: what happened, and where."""
    now, stage = message.now, message.stage
    what = "Gap" if message.is_of_gap else "Incident"
    where = f"in {now.cluster}" if now.cluster else ""
    if message.is_of_gap:
        about = f"{what} of {now.resource} {where}"
    elif message.is_of_workload:
        about = f"{now.workload} {where}"
    elif now.node_count > 1:
        about = f"{what} on {now.node_count} nodes {where}"
    else:
        about = f"{what} on {now.node} {where}"
    return f"{about.strip()}: {_news(message, stage)}"


def _news(message: Message, stage: Stage) -> str:
    now = message.now
    over = {Kind.GAP: "closed", Kind.WORKLOAD: "runs again"}
    match stage:
        case Stage.OPENED if message.is_of_gap:
            return "closed" if now.over_at else "open"
        case Stage.OPENED:
            cause = UNRECORDED if now.cause == Cause.UNRECORDED else now.cause
            said = f"{now.happened}, {cause}".removesuffix(", ")
            return f"stopped by {said}" if now.workload else said
        case Stage.RESOLVED:
            return over.get(now.kind, "resolved")
        case Stage.CHANGED:
            return "changed"
        case Stage.WITHDRAWN:
            return "withdrawn"


def rows(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the details of a message, each with its name."""
    now = message.now
    if message.stage is Stage.WITHDRAWN:
        yield "withdrawn", now.withdrawn
    changed = _changed(now, message.was)
    if changed:
        yield "changed", "; ".join(changed)
    if not message.is_of_gap:
        yield "confidence", now.confidence or MISSING
        yield "nodes", _few(now.nodes, now.node_count)
        yield "affected", _work(now)
        if now.owner:
            yield "owner", now.owner
        yield "coverage", "; ".join(now.incomplete) or "complete"
    if now.over_at is not None:
        yield ("until" if message.is_of_gap else "ended"), written(now.over_at)


def _changed(now: Subject, was: Subject | None) -> Sequence[str]:
    if was is None:
        return []
    found = [
        f"{name} was {getattr(was, field) or MISSING}"
        for name, field in COMPARED
        if getattr(was, field) != getattr(now, field)
    ]
    if (*was.nodes,) != (*now.nodes,):
        found.append(f"nodes were {_few(was.nodes, was.node_count)}")
    if was.over_at is not None and now.over_at is None:
        found.append("was over")
    if was.withdrawn and not now.withdrawn:
        found.append("was withdrawn")
    return found


def _few(names: Sequence[str], count: int) -> str:
    shown = names[:WORK_SHOWN]
    more = count - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _work(now: Subject) -> str:
    if not now.work_count:
        return "no affected workloads recorded"
    shown = [f"{one.says} ({one.outcome})" for one in now.work[:WORK_SHOWN]]
    lost = (
        f"; lost: at least {gpu_hours(now.gpu_hours_lost)}"
        if now.gpu_hours_lost
        else ""
    )
    return _few(shown, now.work_count) + lost


def command(subject: Subject) -> str:
    """Return the command that explains a subject."""
    place = (
        f"--log {subject.log}"
        if subject.is_tape
        else f"--cluster {shlex.quote(subject.cluster)}"
    )
    at = written(subject.at)
    if subject.workload:
        return (
            f"recorder why {shlex.quote(subject.workload)} --at {at} {place}"
        )
    if not subject.node:
        since = written(subject.began_at)
        return f"recorder gaps --since {since} {place}"
    node = shlex.quote(f"node/{subject.node}")
    return f"recorder why {node} --at {at} {place}"


def link(subject: Subject, rule: Rule) -> str | None:
    """Return its address on the page; None if the rule names no page."""
    if rule.page is None:
        return None
    base = rule.page.rstrip("/") + "/"
    named = (
        {"log": str(subject.log)}
        if subject.is_tape
        else {"cluster": subject.cluster}
    )
    if subject.workload:
        path = quote(f"workload/{subject.workload}")
        return f"{base}{path}?{urlencode(named)}"
    if not subject.node:
        return f"{base}sources"
    return base + view(subject.node, verdict=subject.id, **named)
