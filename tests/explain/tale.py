"""Tales: facts written by hand, in order, and the verdicts on them.

A tale shows what matters for a verdict and nothing else; times are seconds
from its beginning, and each fact has an entry of its own.
"""

# ruff: noqa: PLR0913 - a fact has many parts

import json
from collections.abc import Sequence
from typing import Any, Self

from recorder.explain.answer import judge
from recorder.explain.breadth import dpu_signals
from recorder.explain.ending import Ending
from recorder.explain.endings import Life, endings_of, facts_by_object
from recorder.explain.hit import Hit, Scope
from recorder.explain.impact import by_workload, hits
from recorder.explain.knowledge import Knowledge, shipped
from recorder.explain.tracks.episodes import episodes_of
from recorder.explain.tracks.fleet import Fleet
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import NodeState, Placements, Workloads
from recorder.model.fact import FactKind, StoredFact
from recorder.model.observation import AUDIT
from recorder.model.reference import ObjectIdentity
from tests.explain.history import History, a_pod
from tests.support.builders import at

__all__ = ["Tale", "decided", "ended", "harmed"]


class Tale(History):
    """The history of a cluster, with its Pods and requests."""

    def pod(
        self,
        seconds: float,
        reason: str,
        message: str = "",
        *,
        name: str = "pod-1",
        node: str = "n1",
    ) -> Self:
        """Let a Pod be disrupted."""
        new = {"status": "True", "reason": reason, "message": message}
        detail = {"type": "DisruptionTarget", "old": None, "new": new}
        thing = a_pod(name)
        return self.add(
            seconds,
            FactKind.CONDITION_CHANGED,
            detail,
            node=node,
            about=thing,
        )

    def pod_runs(
        self,
        seconds: float,
        name: str,
        node: str,
        of: str = "Job",
        *,
        created: bool = False,
        revision: str = "1",
        uid: str = "uid-llm",
    ) -> Self:
        """Add a running Pod with eight GPUs, of one owner of a kind."""
        owner = {
            "kind": of,
            "name": "llm",
            "uid": uid,
            "controller": True,
        }
        detail = {
            "created": created,
            "state": {
                "node": node,
                "labels": {"controller-revision-hash": revision},
                "owners": [owner],
                "gpus": 8,
                "fields": {"phase": "Running"},
            },
        }
        return self.add(
            seconds,
            FactKind.APPEARED,
            detail,
            node=node,
            about=a_pod(name),
        )

    def pod_ends(
        self, seconds: float, name: str, node: str, code: int
    ) -> Self:
        """Let a Pod fail."""
        ended = {"container": "main", "exit_code": code, "reason": "Error"}
        self.add(
            seconds,
            FactKind.CONTAINER_ENDED,
            ended,
            node=node,
            about=a_pod(name),
        )
        return self.add(
            seconds,
            FactKind.ENDED,
            {"phase": "Failed"},
            node=node,
            about=a_pod(name),
        )

    def deletes(
        self,
        seconds: float,
        name: str,
        *,
        force: bool = False,
        takes: float = 2,
        actor: str | None = None,
    ) -> Self:
        """Let a Pod be deleted, gracefully or by force."""
        pod, asked = a_pod(name), FactKind.DELETION_REQUESTED
        if not force:
            self.add(seconds, asked, {}, about=pod, actor=actor)
        gone = {"inferred": False, "state": {}}
        seconds += 0 if force else takes
        return self.add(seconds, FactKind.VANISHED, gone, about=pod)

    def restarts(
        self, seconds: float, code: int = 137, count: int = 1
    ) -> Self:
        """Let the container of a running Pod fail and start again."""
        detail = {"container": "main", "exit_code": code, "reason": "Error"}
        return self.add(
            seconds,
            FactKind.CONTAINER_ENDED,
            {**detail, "restarts": count},
            about=a_pod("llm-0"),
        )

    def container_ends(
        self, seconds: float, reason: str, code: int = 137
    ) -> Self:
        detail = {"container": "main", "reason": reason, "exit_code": code}
        thing = a_pod("pod-1")
        return self.add(seconds, FactKind.CONTAINER_ENDED, detail, about=thing)

    def made(
        self, seconds: float, group: str, kind: str, node: str = "n1"
    ) -> Self:
        thing = ObjectIdentity(group, kind, "", f"for-{node}", f"uid-{kind}")
        detail = {"created": True, "state": {"node": node}}
        return self.add(
            seconds, FactKind.APPEARED, detail, node=node, about=thing
        )

    def locks(
        self,
        seconds: float,
        node: str = "n1",
        *,
        off: bool = False,
        to: str | None = None,
    ) -> Self:
        """Take the lock, release it, or pass it on to another node."""
        text = json.dumps({"nodeID": node})
        handed = json.dumps({"nodeID": to}) if to else None
        detail = {
            "key": "weave.works/kured-node-lock",
            "old": text if off or to else None,
            "new": handed if off or to else text,
        }
        thing = ObjectIdentity(
            "apps", "DaemonSet", "kube-system", "kured", "u"
        )
        return self.add(
            seconds,
            FactKind.ANNOTATION_CHANGED,
            detail,
            node=node,
            about=thing,
        )

    def asks(
        self,
        seconds: float,
        user: str,
        verb: str,
        body: str = "",
        *,
        node: str = "n1",
        resource: str = "nodes",
        code: int = 200,
        **detail: Any,
    ) -> Self:
        """Add a request, as audit records it."""
        self.audited = True
        request = {
            "verb": verb,
            "resource": resource,
            "name": node,
            "body": body,
            "code": code,
            "user": user,
            **detail,
        }
        return self.add(
            seconds,
            FactKind.REQUESTED,
            request,
            node=node,
            actor=user,
            occurred=seconds,
        )

    def gap(self, since: float, until: float) -> Self:
        self.holes.append(Hole(since=at(since), until=at(until)))
        return self

    def verdicts(
        self,
        node: str = "n1",
        *,
        knowledge: Knowledge | None = None,
        base: NodeState | None = None,
        facts: Sequence[StoredFact] | None = None,
        dpu: Sequence[StoredFact] = (),
    ) -> list[Verdict]:
        """Return the verdicts about a node, in which there may be a DPU."""
        known = self.facts if facts is None else facts
        mine = [fact for fact in known if fact.fact.node == node]
        chains = episodes_of(node, mine, knowledge or shipped(), base)
        signals = {node: [*dpu_signals(dpu, shipped())]}
        fleet = Fleet(known)
        fleet.dpus = signals
        return [
            verdict
            for chain in chains
            for verdict in judge(
                chain,
                fleet,
                holes=self.holes,
                absent=() if self.audited else (AUDIT,),
            )
        ]

    def verdict(self, node: str = "n1", **more: Any) -> Verdict:
        """Judge a tale in which one thing happened to a node."""
        found = self.verdicts(node, **more)
        assert len(found) == 1, [v.sentence for v in found]
        return found[0]


def decided(verdict: Verdict) -> tuple[object, ...]:
    """Return what was decided, by whom, and who carried it out."""
    found = verdict.decision
    if found is None:
        return (None,)
    carrier = found.carried_out_by
    return found.decision, found.actor.name, carrier and carrier.name


def harmed(
    tale: Tale, until: float = 1000, since: float | None = None
) -> list[Hit]:
    """Return the workloads that a tale of one node hit."""
    found = hits(
        tale.verdicts("n1"),
        Placements(tale.facts),
        Workloads(tale.facts),
        scope=Scope(
            nodes=frozenset(["n1"]),
            since=None if since is None else at(since),
            until=at(until),
        ),
    )
    return by_workload(found)


def ended(tale: Tale, until: float = 1000) -> list[Ending]:
    """Return what ended the only workload of a tale."""
    pods, workloads = [*Placements(tale.facts)], Workloads(tale.facts)
    (workload,) = {one for pod in pods if (one := workloads.of(pod))}
    verdicts = tale.verdicts("n1")
    scope = Scope(nodes=frozenset(["n1", "n2"]), until=at(until))
    found = hits(verdicts, pods, workloads, scope=scope)
    life = Life(workload, pods, facts_by_object(tale.facts), workloads)
    return list(endings_of(life, found, verdicts))
