"""Judging answers by a truth, field by field.

Pure: an answer and what is true of it, to marks. What an answer leaves open
in so many words is honest; what it says and is not so is wrong, and worst
where it said that it was sure.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any

from msgspec.structs import replace

from recorder.answers.impact import Impact
from recorder.answers.why import Why
from recorder.explain.hit import Hit
from recorder.explain.thresholds import STRENGTHS
from recorder.explain.verdict import Verdict
from tests.corpus.truth import Actor, Question, Truth, Workload
from tests.corpus.truth import Verdict as Expected

__all__ = ["Judged", "Mark", "judge_impact", "judge_why"]

SURE = frozenset({"proven", "likely"})

SLACK = timedelta(seconds=5)
"""The longest time between an injected fault and its first visible effect."""

OPEN = (None, "unknown", "unrecorded")
"""What says that it is not known."""


class Mark(IntEnum):
    """The mark of an answer: the worst of its fields."""

    RIGHT = 0
    UNKNOWN = 1
    """Not said, and said not to be."""

    WRONG = 2
    SURE_AND_WRONG = 3


@dataclass(slots=True)
class Judged:
    """One answer, judged: a verdict, a workload, or that there is none."""

    about: str
    fields: int = 0
    misses: list[tuple[Mark, str]] = field(default_factory=list)
    """Each field that is not right, and how."""

    @property
    def mark(self) -> Mark:
        """Return the worst mark."""
        return max((mark for mark, _ in self.misses), default=Mark.RIGHT)

    def hold(
        self, name: str, said: Any, right: Iterable[Any], *, sure: bool
    ) -> None:
        """Hold what was said of a field against what is right."""
        self.fields += 1
        right = list(right)
        if said in right:
            return
        mark = Mark.SURE_AND_WRONG if sure else Mark.WRONG
        if said in OPEN:
            mark = Mark.UNKNOWN
        wanted = " or ".join(str(one) for one in right)
        self.misses.append((mark, f"{name} is {said}, not {wanted}"))


def judge_why(answer: Why, question: Question, truth: Truth) -> list[Judged]:
    """Judge the verdicts of a window."""
    by_id = {verdict.id: verdict for verdict in truth.verdicts}
    wanted = [by_id[name] for name in question.verdicts]
    acts = {act.label: act.at for act in truth.acts}
    judged = []
    said = list(answer.verdicts)
    for place, expected in enumerate(wanted):
        about = f"{question.node} {expected.happened}"
        left = len(wanted) - place
        optional = None in expected.accept.get("happened", [])
        if not said or (
            optional
            and len(said) < left
            and said[0].happened != expected.happened
        ):
            one = Judged(about, fields=1)
            if not optional:
                mark = Mark.WRONG
                if answer.coverage.opened:
                    mark = Mark.UNKNOWN
                one.misses.append((mark, "no verdict"))
            judged.append(one)
            continue
        judged.append(_verdict(about, said.pop(0), expected, question, acts))
    for extra in said:
        one = Judged(f"{question.node} {extra.happened}", fields=1)
        sure = extra.confidence in SURE
        mark = Mark.SURE_AND_WRONG if sure else Mark.WRONG
        one.misses.append((mark, f"made up: {extra.sentence}"))
        judged.append(one)
    if not wanted and not said:
        judged.append(Judged(f"{question.node} nothing", fields=1))
    return judged


def _verdict(
    about: str,
    said: Verdict,
    expected: Expected,
    question: Question,
    acts: dict[str, str | None],
) -> Judged:
    one = Judged(about)
    sure = said.confidence in SURE
    accept = expected.accept

    def hold(name: str, answer: Any, right: Any) -> None:
        one.hold(name, answer, [right, *accept.get(name, [])], sure=sure)

    fault, decision = said.fault, said.decision
    hold("happened", said.happened, expected.happened)
    hold("mode", said.mode, expected.mode)
    hold("cause", said.cause, expected.cause)
    hold("fault", fault and fault.fault.value, expected.fault)
    hold("decision", decision and decision.decision.value, expected.decision)
    if expected.boot_id_before is not None:
        hold("boot_id_before", said.boot_id_before, expected.boot_id_before)
    if expected.boot_id_after is not None:
        hold("boot_id_after", said.boot_id_after, expected.boot_id_after)
    if expected.actor is not None and decision is not None:
        _actor(one, said, expected.actor, accept.get("actor", []))
    if expected.back_in_service is not None:
        _back(one, said, expected, question, acts)
    one.fields += 1
    most = STRENGTHS.index(expected.confidence_at_most)
    if STRENGTHS.index(said.confidence) > most:
        mark = Mark.SURE_AND_WRONG if sure else Mark.WRONG
        text = f"{said.confidence}, at most {expected.confidence_at_most}"
        one.misses.append((mark, text))
    return one


def _actor(
    one: Judged, said: Verdict, actor: Actor, accept: Sequence[str | None]
) -> None:
    assert said.decision is not None, "asked only then"
    who = said.decision.actor
    kind, name = who.kind, who.name
    sure = said.confidence in SURE
    if None in accept and name is None:
        one.fields += 1
        return
    one.hold("actor's kind", kind, actor.kinds, sure=sure)
    if actor.name is not None:
        one.hold("actor", name, [actor.name], sure=sure)
    if name in actor.never:
        one.misses.append((Mark.SURE_AND_WRONG, f"nothing names {name}"))


def _back(
    one: Judged,
    said: Verdict,
    expected: Expected,
    question: Question,
    acts: dict[str, str | None],
) -> None:
    """Judge when the node was back, where the window reaches that far."""
    back = said.back_in_service_at
    one.fields += 1
    ends = [_moment(acts[label]) for label in expected.back_between]
    until = _moment(question.until_at)
    if back is None:
        if expected.back_in_service and until >= max(ends):
            accepted = expected.accept.get("back_in_service", [])
            if None not in accepted:
                one.misses.append((Mark.UNKNOWN, "back, and not said"))
        return
    sure = said.confidence in SURE
    mark = Mark.SURE_AND_WRONG if sure else Mark.WRONG
    if not expected.back_in_service:
        one.misses.append((mark, f"back at {back}, which it was not"))
    elif not min(ends) - SLACK <= back <= max(ends) + SLACK:
        one.misses.append((mark, f"back at {back}, not then"))


def _moment(text: str | None) -> datetime:
    assert text is not None, "an act that was done has a time"
    return datetime.fromisoformat(text)


def judge_impact(
    answer: Impact,
    question: Question,
    truth: Truth,
    *,
    there: Collection[str] | None = None,
) -> list[Judged]:
    """Judge the workloads that a node's failures are said to have hit.

    ``there`` names the Pods that were on the node: a truth names those of
    all nodes, and each node is charged with its own.
    """
    wanted = {_named(w): _on_node(w, there) for w in truth.workloads}
    asked = set(question.workloads)
    said = {_hit_name(hit): hit for hit in answer.workloads}
    judged = []
    for name in sorted(asked | said.keys()):
        hit = said.get(name)
        one = Judged(f"{question.node} {name}")
        if name not in asked:
            one.fields = 1
            near = "was near" if name in truth.not_workloads else "is not hit"
            if not (name in wanted and wanted[name].optional):
                one.misses.append((Mark.WRONG, f"listed, and {near}"))
        elif hit is None:
            one.fields = 1
            if not wanted[name].optional:
                mark = Mark.WRONG
                if answer.coverage.opened:
                    mark = Mark.UNKNOWN
                one.misses.append((mark, "not listed"))
        else:
            _workload(one, hit, wanted[name])
        judged.append(one)
    if not judged:
        judged.append(Judged(f"{question.node} no workload", fields=1))
    return judged


def _workload(one: Judged, hit: Hit, wanted: Workload) -> None:
    def hold(name: str, answer: Any, right: Any) -> None:
        accepted = wanted.accept.get(name, [])
        one.hold(name, answer, [right, *accepted], sure=False)

    hold("hit_by", hit.hit_by, wanted.hit_by)
    hold("outcome", hit.outcome, wanted.outcome)
    hold("first_node", hit.first_node, wanted.first_node)
    hold("nodes", sorted(hit.nodes), sorted(wanted.nodes))
    said = sorted(hit.pods_hit)
    same = wanted.replacements and _places(said) == _places(wanted.pods_hit)
    hold("pods_hit", said, said if same else sorted(wanted.pods_hit))
    hold("gang_size", hit.gang_size, wanted.gang_size)
    hold("gpus", hit.gpus, wanted.gpus)


def _on_node(wanted: Workload, there: Collection[str] | None) -> Workload:
    """Return it with the Pods of a node; what survived lost none anywhere."""
    if there is None or wanted.outcome == "survived":
        return wanted
    own = [pod for pod in wanted.pods_hit if pod in there]
    return replace(wanted, pods_hit=own)


def _places(pods: Iterable[str]) -> set[str]:
    """Return names of Pods without the suffix that a replacement changes."""
    return {pod.rpartition("-")[0] for pod in pods}


def _named(workload: Workload) -> str:
    return f"{workload.kind}/{workload.namespace}/{workload.name}"


def _hit_name(hit: Hit) -> str:
    found = hit.workload
    return f"{found.kind}/{found.namespace}/{found.name}"
