"""Judging answers about live incidents by what is true of them.

Answers are the documents that `recorder why` and `recorder impact` print, so
that this judge stays what it is when the code that answers changes. The first
thing that is not right decides the grade.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

__all__ = [
    "Grade",
    "Judged",
    "Question",
    "judge_impact",
    "judge_why",
    "read_questions",
]

Answer = Mapping[str, Any]

HAPPENED = {
    "kubelet_restart": "kubelet-restart",
    "reboot": "reboot",
    "unreachable": "unreachable",
    "replaced": "replaced",
    "rejoined": "rejoined",
    "removed": "removed",
    "none": None,
}
MAJOR = {name for name in HAPPENED.values() if name is not None}

DECISION = {
    1: "admin-request",
    2: "auto-remediation",
    10: "os-upgrade",
    11: "host-maintenance",
    13: "scale-down",
    14: "manual-drain",
    15: "node-deletion",
    18: "driver-upgrade",
}
FAULT = {
    3: "kernel-panic",
    4: "gpu-fault",
    5: "power-loss",
    6: "link-fault",
    7: "container-oom",
    8: "system-oom",
    9: "kubelet-failure",
    12: "network-partition",
    16: "hung-kernel",
    17: "control-plane-outage",
}
"""Classes of causes, by the numbers that truths use."""

ABRUPT = frozenset({"kernel-panic", "power-loss"})
"""Nothing inside a cluster parts one from the other."""

SURE = frozenset({"proven", "likely"})

ALIKE = (
    frozenset({"restarted", "rescheduled", "evicted"}),
    frozenset({"still_down", "down", "failed"}),
    frozenset({"preempted"}),
)
"""Groups of outcomes: where one is right, so are the others."""

LAST = "9999"
"""After every time, as text."""


class Grade(StrEnum):
    """The grade of an answer."""

    RIGHT = "right"
    TIMID = "timid"
    """Right in every field, and less sure than the evidence bears."""

    UNKNOWN = "unknown"
    """Not said, and said not to be."""

    WRONG = "wrong"
    SURE_AND_WRONG = "WRONG"


SCORE_MIN = 0.97
"""The least score of the answers about the live incidents."""

_WEIGHTS = {Grade.SURE_AND_WRONG: 5}
"""How many answers one counts as, if not one."""


def score(grades: Mapping[Grade, int]) -> float:
    """Return the share of answers that are right, from 0 to 1.

    One that is wrong and sure counts as five wrong; a timid one as not right.
    """
    right = grades.get(Grade.RIGHT, 0)
    whole = sum(_WEIGHTS.get(one, 1) * many for one, many in grades.items())
    return right / whole if whole else 0.0


class Judged(NamedTuple):
    """A grade, with its reason."""

    grade: Grade
    reason: str = ""


class Class(msgspec.Struct, frozen=True):
    """What kind of cause it was; ``accept`` are no mistakes either."""

    number: int | None
    accept: list[int] = []


class Job(msgspec.Struct, frozen=True):
    """A workload that ran on the node, and its outcome."""

    kind: str
    namespace: str
    name: str
    gpus: int
    outcome: str
    accept: list[str] = []


class Question(msgspec.Struct, frozen=True):
    """A node and a window, and what is true of them."""

    node: str
    window: tuple[str, str]
    happened: str
    planned: bool | None
    jobs: list[Job]
    cause: Class | None = msgspec.field(name="class", default=None)
    boot_ids: tuple[str, str] | None = None
    actor: str | None = None
    stopped_between: tuple[str, str | None] | None = None
    may_list: list[str] = []

    @property
    def accepted(self) -> set[int]:
        """Return the numbers of causes that are no mistake."""
        if self.cause is None:
            return set()
        return {*self.cause.accept, self.cause.number or 0} - {0}

    @property
    def decisions(self) -> set[str]:
        """Return the decisions that are no mistake."""
        found = {DECISION[n] for n in self.accepted if n in DECISION}
        if 11 in self.accepted:  # a spot machine that is taken back
            found.add("preemption")
        return found

    @property
    def faults(self) -> set[str]:
        """Return the faults that are no mistake."""
        return {FAULT[n] for n in self.accepted if n in FAULT}


class _Truth(msgspec.Struct, frozen=True):
    questions: list[Question]


def read_questions(path: Path) -> list[Question]:
    """Read the questions of a truth."""
    return msgspec.json.decode(path.read_bytes(), type=_Truth).questions


def judge_why(question: Question, answer: Answer) -> Judged:
    """Judge an answer of `recorder why`."""
    want = HAPPENED[question.happened]
    verdicts = [v for v in answer["verdicts"] if v["happened"] in MAJOR]
    if want is None:
        return _nothing(verdicts)
    if not verdicts:
        return _silent(answer, f"no verdict, wanted {want}")
    matching = [v for v in verdicts if v["happened"] == want]
    if not matching:
        last = verdicts[-1]
        return Judged(_bad(last), f"{last['happened']} instead of {want}")
    if question.boot_ids is not None and want == "reboot":
        after = question.boot_ids[1]
        matching = [v for v in matching if v["boot_id_after"] == after]
        if not matching:
            return Judged(Grade.SURE_AND_WRONG, "no verdict for this boot id")
    return next(_misses(question, matching[-1]), Judged(Grade.RIGHT))


def _nothing(verdicts: Sequence[Answer]) -> Judged:
    sure = [v for v in verdicts if v["confidence"] in SURE]
    if sure:
        said = f"{sure[0]['happened']} ({sure[0]['cause']})"
        reason = f"nothing happened, but it says {said}"
        return Judged(Grade.SURE_AND_WRONG, reason)
    if verdicts:
        return Judged(Grade.WRONG, "nothing happened")
    return Judged(Grade.RIGHT)


def _silent(answer: Answer, reason: str) -> Judged:
    """Judge what is left out: honest where the coverage is not complete."""
    if answer["coverage"]["complete"]:
        return Judged(Grade.SURE_AND_WRONG, reason)
    return Judged(Grade.UNKNOWN, reason)


def _bad(verdict: Answer) -> Grade:
    sure = verdict["confidence"] in SURE
    return Grade.SURE_AND_WRONG if sure else Grade.WRONG


def _misses(question: Question, verdict: Answer) -> Iterator[Judged]:
    """Yield the errors of the verdict on what happened."""
    if not verdict["evidence"]:
        yield Judged(Grade.WRONG, "a verdict without evidence")
    yield from _times(question, verdict)
    if question.planned is None:
        yield from _made_up(question, verdict, "which cannot be known")
    elif question.planned:
        yield from _ordered(question, verdict)
    else:
        yield from _befallen(question, verdict)


def _times(question: Question, verdict: Answer) -> Iterator[Judged]:
    if question.stopped_between is None:
        return
    down, up = question.stopped_between
    last, first = verdict["between"]
    if (last or "") > (up or LAST) or (first or LAST) < down:
        said = f"between {last} and {first}"
        reason = f"{said}, but the machine was down from {down} to {up}"
        yield Judged(Grade.WRONG, reason)


def _made_up(
    question: Question, verdict: Answer, why: str
) -> Iterator[Judged]:
    said = _class(verdict["decision"])
    if said is not None and said not in question.decisions:
        yield Judged(_bad(verdict), f"decision {said}, {why}")


def _ordered(question: Question, verdict: Answer) -> Iterator[Judged]:
    """Judge the answer about an incident that was ordered."""
    said = _class(verdict["decision"])
    if said is None:
        open_ = verdict["cause"] == "unrecorded"
        honest = open_ or verdict["confidence"] not in SURE
        grade = Grade.UNKNOWN if honest else Grade.SURE_AND_WRONG
        yield Judged(grade, f"no decision; cause {verdict['cause']}")
        return
    if question.decisions and said not in question.decisions:
        wanted = sorted(question.decisions)
        yield Judged(_bad(verdict), f"decision {said}, wanted {wanted}")
    yield from _actor(question, verdict)
    yield from _trigger(question, verdict)
    named = question.actor not in {None, "unknown"}
    if named and verdict["confidence"] not in SURE:
        yield Judged(Grade.TIMID, f"{said}, only {verdict['confidence']}")


def _actor(question: Question, verdict: Answer) -> Iterator[Judged]:
    actor = verdict["decision"]["actor"]
    name, kind = actor["name"], actor["kind"]
    sure = verdict["confidence"] in SURE
    if question.actor == "unknown":
        if kind == "user" and sure:
            reason = f"actor {name} cannot be known"
            yield Judged(Grade.SURE_AND_WRONG, reason)
    elif question.actor and question.actor not in (name or ""):
        grade = Grade.UNKNOWN if kind == "unknown" else _bad(verdict)
        yield Judged(grade, f"actor {name}, wanted {question.actor}")


def _trigger(question: Question, verdict: Answer) -> Iterator[Judged]:
    """Judge the fault for which something was ordered."""
    fault = _class(verdict["fault"])
    if {2, 4} & question.accepted and question.faults - ABRUPT:
        if fault is None:
            reason = "the fault that triggered it is not named"
            yield Judged(Grade.WRONG, reason)
    elif question.accepted == {1} and fault and verdict["confidence"] in SURE:
        reason = f"fault {fault}, but it was asked for with no fault"
        yield Judged(Grade.SURE_AND_WRONG, reason)


def _befallen(question: Question, verdict: Answer) -> Iterator[Judged]:
    """Judge the answer about an incident that was not ordered."""
    yield from _made_up(question, verdict, "but there was no decision")
    if verdict["mode"] == "planned":
        yield Judged(_bad(verdict), "planned, but there was no decision")
    fault = _class(verdict["fault"])
    if fault is not None and fault not in question.faults:
        wanted = sorted(question.faults) or "none"
        yield Judged(_bad(verdict), f"fault {fault}, wanted {wanted}")
    proven = verdict["confidence"] == "proven"
    if question.accepted == {3, 5} and fault in ABRUPT and proven:
        yield Judged(Grade.SURE_AND_WRONG, f"{fault} as a fact")


def _class(part: Answer | None) -> str | None:
    return None if part is None else part["class"]


def judge_impact(question: Question, answer: Answer) -> Judged:
    """Judge an answer of `recorder impact`."""
    said, kept = _parted(answer["workloads"])
    jobs = [msgspec.to_builtins(job) for job in question.jobs]
    want, survived = _parted(jobs)
    may = set(question.may_list)
    extra = said.keys() - want.keys() - may
    if extra:
        return Judged(Grade.SURE_AND_WRONG, f"lists {sorted(extra)}")
    missing = want.keys() - said.keys()
    if missing:
        return _silent(answer, f"misses {sorted(missing)}")
    spared = kept.keys() - survived.keys() - want.keys() - may
    if spared:
        return Judged(Grade.WRONG, f"survivors {sorted(spared)}")
    for name, job in want.items():
        reason = _differs(job, said[name])
        if reason is not None:
            return Judged(Grade.WRONG, f"{name}: {reason}")
    return Judged(Grade.RIGHT)


def _parted(
    workloads: Sequence[Answer],
) -> tuple[dict[str, Answer], dict[str, Answer]]:
    """Divide workloads into those that were harmed and those that were not."""
    harmed: dict[str, Answer] = {}
    survived: dict[str, Answer] = {}
    for one in workloads:
        into = survived if one["outcome"] == "survived" else harmed
        into[f"{one['namespace']}/{one['name']}"] = one
    return harmed, survived


def _differs(job: Answer, said: Answer) -> str | None:
    if said["kind"] != job["kind"]:
        return f"is a {job['kind']}, not a {said['kind']}"
    if job["kind"] != "Deployment" and said["gpus"] != job["gpus"]:
        return f"{said['gpus']} GPUs, wanted {job['gpus']}"
    right = {job["outcome"], *job["accept"]}
    if said["outcome"] not in _alike(job["outcome"], right):
        return f"{said['outcome']}, wanted {sorted(right)}"
    return None


def _alike(outcome: str, right: set[str]) -> set[str]:
    """Return the outcomes that are as right as these."""
    if outcome == "failed":
        return {"failed"}
    return right.union(*(group for group in ALIKE if group & right))
