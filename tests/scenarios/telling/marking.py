"""Marking verdicts of an incident against the truth."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from recorder.explain.hit import Hit, Scope
from recorder.explain.impact import by_workload, hits
from recorder.explain.signals.actor import UNKNOWN
from recorder.explain.thresholds import STRENGTHS
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import Placements, Workloads
from recorder.model.entry import Draft
from recorder.model.fact import FactKind
from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.judging import OPEN, SURE, Mark
from tests.corpus.judging import Judged as Marked
from tests.corpus.truth import Truth, Workload
from tests.corpus.truth import Verdict as Expected
from tests.explain.judged import Judged, facts_of, holes_of
from tests.scenarios.telling.world import PODS

__all__ = ["Miss", "hits_of", "judged_of", "misses", "missed_workloads"]

Miss = tuple[Mark, str]
SOON = timedelta(seconds=1)
"""Objects have whole seconds."""

COUNTED = (
    "hit_by",
    "outcome",
    "first_node",
    "gang_size",
    "gpus",
    "nodes",
    "pods_hit",
)


def judged_of(drafts: Sequence[Draft], holes: Iterable[Hole] = ()) -> Judged:
    """Derive the facts of entries, for judging."""
    facts = list(facts_of(drafts))
    audited = any(fact.fact.kind is FactKind.REQUESTED for fact in facts)
    holes = list(holes)
    return Judged(
        facts,
        [*holes_of(drafts), *holes],
        audited,
        [*holes_of(drafts, PODS), *holes],
    )


def misses(truth: Truth, judged: Judged) -> list[Miss]:
    """Return where verdicts are not true, and how bad that is."""
    found: list[Miss] = []
    for node in truth.cluster.nodes:
        wanted = [v for v in truth.verdicts if v.node == node.name]
        said = judged.verdicts(node.name)
        found += _of_node(node.name, wanted, said)
    return found


def _of_node(
    node: str, wanted: Sequence[Expected], said: Sequence[Verdict]
) -> list[Miss]:
    found: list[Miss] = []
    pairs, extra = _paired(wanted, said)
    for expected, verdict in pairs:
        if verdict is not None:
            found += _missed(expected, verdict)
        elif None not in expected.accept.get("happened", []):
            found.append(
                (Mark.UNKNOWN, f"{node}: no {expected.happened} is reported")
            )
    for verdict in extra:
        sure = verdict.confidence in SURE
        mark = Mark.SURE_AND_WRONG if sure else Mark.WRONG
        found.append((mark, f"made up: {verdict.sentence}"))
    return found


def _paired(
    wanted: Sequence[Expected], said: Sequence[Verdict]
) -> tuple[list[tuple[Expected, Verdict | None]], list[Verdict]]:
    """Pair expected with actual verdicts, in their order."""
    left = list(said)
    pairs: list[tuple[Expected, Verdict | None]] = []
    for place, expected in enumerate(wanted):
        few = len(left) < len(wanted) - place
        if not left or (few and not _can_be(expected, left[0])):
            pairs.append((expected, None))
        else:
            pairs.append((expected, left.pop(0)))
    return pairs, left


def _can_be(expected: Expected, verdict: Verdict) -> bool:
    accepted = expected.accept.get("happened", [])
    boots = {verdict.boot_id_after, expected.boot_id_after} - {None}
    return len(boots) <= 1 and (
        verdict.happened in [expected.happened, *accepted]
    )


def _missed(expected: Expected, verdict: Verdict) -> list[Miss]:
    one = Marked(expected.id)
    sure = verdict.confidence in SURE
    fault, decided = verdict.fault, verdict.decision
    said = {
        "happened": verdict.happened,
        "mode": verdict.mode,
        "fault": fault and fault.fault.value,
        "decision": decided and decided.decision.value,
        "boot_id_before": verdict.boot_id_before,
        "boot_id_after": verdict.boot_id_after,
    }
    for name, answer in said.items():
        want = getattr(expected, name)
        if want is None and name.startswith("boot"):
            continue
        right = [want, *expected.accept.get(name, [])]
        one.hold(name, answer, right, sure=sure)
    causes = [expected.cause, *expected.accept.get("cause", [])]
    one.hold("cause", verdict.cause, causes, sure=sure)
    most = STRENGTHS.index(expected.confidence_at_most)
    if STRENGTHS.index(verdict.confidence) > most:
        mark = Mark.SURE_AND_WRONG if sure else Mark.WRONG
        one.misses.append((mark, f"{verdict.confidence} is too sure"))
    _back(one, expected, verdict)
    _actor(one, expected, verdict)
    return [(m, f"{t}: {verdict.sentence}") for m, t in one.misses]


def _back(one: Marked, expected: Expected, verdict: Verdict) -> None:
    if expected.back_in_service is None:
        return
    back = verdict.back_in_service_at is not None
    if back != expected.back_in_service:
        sure = verdict.confidence in SURE and back
        mark = Mark.SURE_AND_WRONG if sure else Mark.UNKNOWN
        one.misses.append((mark, f"back is {back}"))


def _actor(one: Marked, expected: Expected, verdict: Verdict) -> None:
    actor = expected.actor
    decided = verdict.decision
    if actor is None or decided is None or decided.actor == UNKNOWN:
        return
    sure = verdict.confidence in SURE
    said = decided.actor
    if said.kind not in [*actor.kinds, *OPEN]:
        right = ["unknown", *actor.kinds]
        one.hold("actor's kind", said.kind, right, sure=sure)
    if actor.name is not None:
        one.hold("actor", said.name, [actor.name], sure=sure)
    if said.name is not None and said.name in actor.never:
        one.misses.append((Mark.SURE_AND_WRONG, f"nothing names {said.name}"))


def hits_of(judged: Judged, nodes: Sequence[str]) -> list[Hit]:
    """Return the workloads that were hit on nodes."""
    found = hits(
        [v for node in nodes for v in judged.verdicts(node)],
        Placements(judged.facts),
        Workloads(judged.facts),
        scope=Scope(
            nodes=frozenset(nodes),
            until=max(fact.observed_at for fact in judged.facts),
            unheard=judged.unheard,
        ),
    )
    return by_workload(found)


def missed_workloads(recording: AnsweredTape, judged: Judged) -> list[str]:
    """Return where workloads are not true."""
    nodes = [node.name for node in recording.truth.cluster.nodes]
    left = hits_of(judged, nodes)
    said = []
    for truth in recording.truth.workloads:
        name = truth.kind, truth.namespace, truth.name
        hit = next(
            (
                h
                for h in left
                if (h.workload.kind, h.workload.namespace, h.workload.name)
                == name
            ),
            None,
        )
        if hit is None:
            said += [] if truth.optional else [f"{truth.name} is missing"]
            continue
        left.remove(hit)
        for field in COUNTED:
            right = [getattr(truth, field), *truth.accept.get(field, [])]
            answer = getattr(hit, field)
            if field == "nodes":  # the first one comes first
                answer, right = sorted(answer), [sorted(r) for r in right]
            if answer not in right:
                said.append(
                    f"{truth.name}: {field} is {answer}, not {right[0]}:"
                    f" {hit.says}"
                )
        said += [
            f"{truth.name}: {text}" for text in _wrong_recovery(hit, truth)
        ]
    return said + [f"not hit: {hit.says}" for hit in left]


def _wrong_recovery(hit: Hit, truth: Workload) -> Iterator[str]:
    """Yield errors of when it ran again, and of its cost."""
    again = hit.running_again_at
    if truth.again_at is not None:
        right = datetime.fromisoformat(truth.again_at)
        if again is None or abs(again - right) > SOON:
            yield f"runs again at {again}, not {right}: {hit.says}"
    if truth.hours:
        least, most = truth.hours
        if not least <= hit.gpu_hours_lost <= most:
            yield f"{hit.gpu_hours_lost} GPU-hours: {hit.says}"
