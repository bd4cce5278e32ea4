"""What is to be concluded of an incident, collected before it happens.

Incidents say it in few words; this spells it out as a truth. It knows the
cluster's facts, not the cluster, and does nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tests.cluster.binaries import KUBERNETES
from tests.cluster.controlplane import Options
from tests.corpus.identities import ALICE, RACK, boot_id
from tests.corpus.placing import Placed
from tests.corpus.truth import (
    Act,
    Actor,
    ClusterFacts,
    NodeFacts,
    Question,
    Truth,
    Verdict,
    Workload,
    named,
)

__all__ = ["CONTROLLER", "SOME_USER", "Expecting", "a_controller"]

SOME_USER = Actor(kinds=["unknown", "user"], never=[ALICE])
"""A person whom nothing on the tape names: audit was off."""

CONTROLLER = Actor(kinds=["controller"])


def a_controller(name: str) -> Actor:
    """Return a controller that the tape names."""
    return Actor(kinds=["controller"], name=name)


class Expecting:
    """The truth of an incident while it is being written."""

    def __init__(self, name: str, says: str, options: Options) -> None:
        self.name = name
        self._says = says
        self._options = options
        self.real: list[str] = []
        self.imitated: list[str] = []
        self.edited: list[str] = []
        self.nodes = [
            NodeFacts(
                name=spec.name, rack=spec.labels.get(RACK), gpus=spec.gpus
            )
            for spec in options.machines
        ]
        self._acts: list[Act] = []
        self._announced: set[str] = set()
        self._verdicts: list[Verdict] = []
        self._workloads: list[Workload] = []
        self._not_workloads: list[str] = []
        self._questions: list[Question] = []

    def note(self, act: Act) -> None:
        """Record an act."""
        self._acts.append(act)

    def expect(
        self,
        node: str,
        happened: str,
        mode: str,
        *,
        at_most: str,
        **more: Any,
    ) -> str:
        """Expect a verdict; return its id.

        ``boots`` are the numbers of the boots before and after, ``back`` the
        acts between which the node is back in service; everything else is a
        field of `Verdict`.
        """
        before, after = more.pop("boots", (1, 1))
        back: Sequence[str] = more.pop("back", ())
        fault, decision = more.get("fault"), more.get("decision")
        fields = {
            "id": f"v{len(self._verdicts) + 1}",
            "node": node,
            "happened": happened,
            "mode": mode,
            "cause": fault or decision or "unrecorded",
            "boot_id_before": before and boot_id(self.name, node, before),
            "boot_id_after": after and boot_id(self.name, node, after),
            "back_in_service": bool(back) or None,
            "back_between": list(back),
            "confidence_at_most": at_most,
            **{key: _plain(value) for key, value in more.items()},
        }
        self._verdicts.append(msgspec.convert(fields, Verdict))
        return str(fields["id"])

    def hit(
        self,
        placed: Placed,
        *nodes: str,
        outcome: str,
        hit_by: str = "node-failure",
        first: str | None = None,
        **more: Any,
    ) -> str:
        """Expect a workload to be hit on nodes; return its name."""
        pods = [p for p, on in sorted(placed.pods.items()) if on in nodes]
        gang = placed.gang or len(pods)
        fields = {
            "kind": placed.kind,
            "namespace": placed.namespace,
            "name": placed.name,
            "hit_by": hit_by,
            "outcome": outcome,
            "first_node": first or nodes[0],
            "nodes": list(nodes),
            "pods_hit": pods,
            "gang_size": gang,
            "gpus": gang * placed.gpus,
            **more,
        }
        workload = msgspec.convert(fields, Workload)
        self._workloads.append(workload)
        return named(workload)

    def not_hit(self, *names: str | Placed) -> None:
        """Expect workloads, ``Kind/namespace/name``, not to be listed."""
        self._not_workloads += [
            each if isinstance(each, str) else each.title for each in names
        ]

    def ask(
        self,
        node: str,
        *verdicts: str,
        workloads: Sequence[str] = (),
        since: str = "start",
        until: str = "end",
    ) -> None:
        """Ask about a node in a window between two acts."""
        question = Question(
            node=node,
            since=since,
            until=until,
            verdicts=list(verdicts),
            workloads=list(workloads),
        )
        self._questions.append(question)

    def truth(self) -> Truth:
        """Return the truth as far as it is known."""
        times = {act.label: act.at for act in self._acts}
        questions = [
            msgspec.structs.replace(
                question,
                since_at=times.get(question.since),
                until_at=times.get(question.until),
            )
            for question in [*self._questions, *self._usual_questions()]
        ]
        return Truth(
            incident=self.name,
            says=self._says,
            cluster=self._facts(),
            acts=list(self._acts),
            verdicts=list(self._verdicts),
            workloads=list(self._workloads),
            not_workloads=list(self._not_workloads),
            questions=questions,
            edited=list(self.edited),
        )

    def timeless(self) -> Truth:
        """Return the truth without what is filled in during the incident."""
        truth = self.truth()
        questions = [
            msgspec.structs.replace(each, since_at=None, until_at=None)
            for each in truth.questions
        ]
        return msgspec.structs.replace(truth, acts=[], questions=questions)

    def _usual_questions(self) -> list[Question]:
        """Return a question about the whole tape for each node without one."""
        asked = {question.node for question in self._questions}
        return [
            Question(
                node=node.name,
                since="start",
                until="end",
                verdicts=[v.id for v in self._verdicts if v.node == node.name],
                workloads=[
                    named(w) for w in self._workloads if node.name in w.nodes
                ],
            )
            for node in self.nodes
            if node.name not in asked
        ]

    def _facts(self) -> ClusterFacts:
        options = self._options
        shortened = {
            "node-monitor-grace-period": (
                f"{options.node_monitor_grace_period}, usually 50s"
            ),
            "tolerationSeconds of not-ready and unreachable": (
                f"{options.toleration_seconds}, usually 300"
            ),
            "node-monitor-period": "1s, usually 5s",
            "nodeStatusUpdateFrequency": "3s, usually 10s",
            "times of machines": "seconds, where real ones need minutes",
        }
        return ClusterFacts(
            kubernetes=KUBERNETES,
            nodes=list(self.nodes),
            audit=options.audit_policy is not None,
            real=[
                "kube-apiserver",
                "kube-controller-manager",
                "kube-scheduler",
                "kubelet over a runtime that runs nothing",
                *self.real,
            ],
            imitated=list(self.imitated),
            shortened=shortened,
        )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: list(values) for key, values in value.items()}
    return msgspec.to_builtins(value)
