"""A scene: work on a cluster, and the truth about its incidents."""

# ruff: noqa: PLR0913 - a truth has many parts

from collections.abc import Mapping, Sequence
from typing import Any, Self

from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.blinding import Blind, blinded
from tests.corpus.truth import (
    Actor,
    ClusterFacts,
    NodeFacts,
    Question,
    Truth,
    Verdict,
    Workload,
)
from tests.scenarios.telling.parts import boot_id, fine
from tests.scenarios.telling.pods import Work, owner
from tests.scenarios.telling.truths import By

__all__ = ["Scene", "owner"]

Boots = tuple[int, int] | None
"""The numbers of the boots before and after; None where it is not asked."""

_Asked = tuple[
    float,
    float,
    str,
    str | None,
    Mapping[str, str],
    Sequence[int],
    Sequence[str],
]


class Scene(Work):
    """What happens, and the expected conclusions."""

    def __init__(
        self,
        *nodes: str,
        racks: Mapping[str, str] | None = None,
        gpus: int = 8,
        audit: bool = False,
    ) -> None:
        super().__init__(*nodes, racks=racks, gpus=gpus)
        self._racks = racks or {}
        self._audit = audit
        self._verdicts: list[Verdict] = []
        self._workloads: list[Workload] = []
        self._questions: list[_Asked] = []
        self._blind: list[Blind] = []

    def expect(
        self,
        node: str,
        happened: Any,
        mode: Any,
        *,
        fault: Any = None,
        decision: Any = None,
        actor: By | None = None,
        never: Sequence[str] = (),
        most: Any = "proven",
        back: bool | None = None,
        boots: Boots = None,
        accept: Mapping[str, Sequence[str | None]] = {},
    ) -> Self:
        """Expect a verdict about a node."""
        kinds, name = actor or ((), None)
        self._verdicts.append(
            Verdict(
                id=f"{node} {happened} {len(self._verdicts)}",
                node=node,
                happened=happened,
                mode=mode,
                cause=fault or decision or "unrecorded",
                fault=fault,
                decision=decision,
                actor=(
                    Actor(kinds=list(kinds), name=name, never=list(never))
                    if actor is not None
                    else None
                ),
                boot_id_before=boots and boot_id(node, boots[0]),
                boot_id_after=boots and boot_id(node, boots[1]),
                back_in_service=back,
                confidence_at_most=most,
                accept={key: list(value) for key, value in accept.items()},
            )
        )
        return self

    def unexplained(
        self,
        node: str,
        *,
        most: Any = "unknown",
        boots: Boots = (1, 2),
        back: bool | None = True,
        **more: Any,
    ) -> Self:
        """Say that a machine rebooted, and that nothing shows why."""
        return self.expect(
            node, "reboot", "abrupt", most=most, boots=boots, back=back, **more
        )

    def broke(
        self,
        node: str,
        fault: Any,
        *,
        most: Any = "likely",
        boots: Boots = (1, 2),
        **more: Any,
    ) -> Self:
        """Say what made a machine reboot, as far as is recorded."""
        return self.expect(
            node,
            "reboot",
            "abrupt",
            fault=fault,
            most=most,
            boots=boots,
            **more,
        )

    def kubelet_restarted(
        self,
        node: str,
        fault: Any = "kubelet-failure",
        *,
        most: Any = "likely",
        boots: Boots = (1, 1),
        **more: Any,
    ) -> Self:
        """Expect that a kubelet stopped and came back within one boot."""
        return self.expect(
            node,
            "kubelet-restart",
            "abrupt",
            fault=fault,
            most=most,
            boots=boots,
            **more,
        )

    def cut_off(self, node: str, fault: Any, **more: Any) -> Self:
        """Say that a node was not reached, and came back as it was."""
        return self.expect(
            node,
            "unreachable",
            "abrupt",
            fault=fault,
            boots=(1, 1),
            back=True,
            **more,
        )

    def rebooted(
        self,
        node: str,
        decision: Any,
        by: By,
        *,
        boots: Boots = (1, 2),
        back: bool | None = True,
        **more: Any,
    ) -> Self:
        """Say that a person or controller decided to reboot a machine."""
        return self.decided(
            node, "reboot", decision, by, boots=boots, back=back, **more
        )

    def decided(
        self, node: str, happened: Any, decision: Any, by: By, **more: Any
    ) -> Self:
        """Say what a person or controller decided for a node."""
        return self.expect(
            node, happened, "planned", decision=decision, actor=by, **more
        )

    def hit(
        self,
        kind: str,
        name: str,
        first: str,
        pods: Sequence[str],
        *,
        nodes: Sequence[str] = (),
        size: int,
        gpus: int,
        outcome: Any = "down",
        by: Any = "node-failure",
        space: str = "train",
        optional: bool = False,
        again: float | None = None,
        hours: Sequence[float] = (),
        accept: Mapping[str, Sequence[Any]] = {},
    ) -> Self:
        """Say which workload is hit, and perhaps how long and how much."""
        self._workloads.append(
            Workload(
                kind=kind,
                namespace=space,
                name=name,
                hit_by=by,
                outcome=outcome,
                first_node=first,
                nodes=list(nodes or [first]),
                pods_hit=list(pods),
                gang_size=size,
                gpus=gpus,
                optional=optional,
                again_at=None if again is None else fine(again),
                hours=list(hours),
                accept={key: list(value) for key, value in accept.items()},
            )
        )
        return self

    def hit_pod(
        self, name: str, node: str, *, gpus: int = 0, **more: Any
    ) -> Self:
        """Say that a Pod without an owner is hit."""
        return self.hit("Pod", name, node, [name], size=1, gpus=gpus, **more)

    def asks(
        self,
        since: float,
        until: float,
        *,
        node: str = "",
        rack: str | None = None,
        labels: Mapping[str, str] = {},
        verdicts: Sequence[int] = (),
        workloads: Sequence[str] = (),
    ) -> Self:
        """Ask about a window; verdicts go by when they were expected."""
        asked = since, until, node, rack, labels, verdicts, workloads
        self._questions.append(asked)
        return self

    def blind(self, span: Blind) -> Self:
        """Let nothing be watched for a while."""
        self._blind.append(span)
        return self

    @property
    def is_asked_about(self) -> bool:
        """Whether there are questions about it."""
        return bool(self._questions)

    @property
    def is_costed(self) -> bool:
        """Whether it is known what workloads cost, and nothing is hidden."""
        return not self._blind and any(w.hours for w in self._workloads)

    def _asked(self, asked: _Asked) -> Question:
        since, until, node, rack, labels, verdicts, workloads = asked
        return Question(
            node=node,
            since="",
            until="",
            since_at=fine(since),
            until_at=fine(until),
            verdicts=[self._verdicts[place].id for place in verdicts],
            workloads=list(workloads),
            rack=rack,
            labels=dict(labels),
        )

    def answered_tape(self, name: str) -> AnsweredTape:
        """Return the tape and its truth."""
        cluster = ClusterFacts(
            kubernetes="v1.36.3",
            nodes=[
                NodeFacts(name=node, rack=self._racks.get(node), gpus=8)
                for node in sorted(self.lives)
            ],
            audit=self._audit,
            real=[],
        )
        truth = Truth(
            incident=name,
            says=name,
            cluster=cluster,
            acts=[],
            verdicts=list(self._verdicts),
            workloads=list(self._workloads),
            not_workloads=[],
            questions=[self._asked(asked) for asked in self._questions],
        )
        tape = self.tape(name)
        for span in self._blind:
            since, until = fine(span.since), fine(span.until)
            tape = blinded(tape, since, until, span.resource)
        return AnsweredTape(tape, truth)
