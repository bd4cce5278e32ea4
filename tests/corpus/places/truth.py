"""What is true of the laboratory of places, written before it was played.

Each act is on one node. `says` is what names the cause: the text must be in
the sentence or in the words of the fault; `never` must not be. `without`
holds what is honest where a source is absent, by the name of the source.
"""

from dataclasses import dataclass, field
from typing import Final

__all__ = [
    "CLAIMS",
    "DPF",
    "DPU",
    "DPUS",
    "EXPECTED",
    "GANGS",
    "LOOKALIKES",
    "Answer",
    "Expected",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a verdict may be."""

    happened: str
    causes: tuple[str, ...]
    """Classes that are right; the first is the best."""

    confidence: tuple[str, ...]
    says: str = ""
    never: tuple[str, ...] = ()
    actor: str | None = None
    """The name of who decided; None where none is recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is true of one node after one act."""

    act: str
    node: str
    answer: Answer
    without: dict[str, Answer] = field(default_factory=dict)


CLAIMS, DPF, DPUS = "claims", "dpf", "dpus"
"""Sources: what other systems posted, the objects of DPF, and the log of the
cluster of the DPUs."""

DPU: Final = "dpu-node-mt2334xz09f2-mt2334xz09f2"

SURE: Final = ("proven", "likely")
UNSURE: Final = ("likely", "possible", "unknown")

LEAF_DIED: Final = Answer(
    happened="degraded",
    causes=("link-fault",),
    # The fifth node stayed well on its second rail.
    confidence=("possible", "likely"),
    says="switch/leaf-7",
    never=("leaf-8",),
)
ONLY_PORTS: Final = Answer(
    happened="degraded",
    causes=("link-fault",),
    confidence=("proven", *UNSURE),
    says="port/gpu-",
    never=("switch/leaf-7: ",),
)
NO_RECORD: Final = Answer(
    happened="reboot",
    causes=("unrecorded", "power-loss"),
    confidence=("possible", "unknown", "likely"),
)

EXPECTED: Final = (
    *(
        Expected(
            act="leaf",
            node=f"gpu-00{number}",
            answer=LEAF_DIED,
            without={CLAIMS: ONLY_PORTS},
        )
        for number in (1, 2, 3, 4)
    ),
    *(
        Expected(
            act="pdu",
            node=node,
            answer=Answer(
                happened="reboot",
                causes=("power-loss",),
                confidence=SURE,
                never=("pdu/c1",),
            ),
            without={CLAIMS: NO_RECORD},
        )
        for node in ("gpu-008", "gpu-009")
    ),
    Expected(
        act="watchdog",
        node="gpu-006",
        answer=Answer(
            happened="reboot",
            causes=("hung-kernel",),
            confidence=SURE,
            # Its alarm was an hour before.
            never=("pdu/",),
        ),
        without={
            CLAIMS: Answer(
                happened="reboot",
                causes=("unrecorded",),
                confidence=("unknown",),
            )
        },
    ),
    Expected(
        act="reset",
        node="gpu-007",
        answer=Answer(
            happened="reboot",
            causes=("admin-request",),
            confidence=SURE,
            never=("pdu/",),
        ),
        without={
            CLAIMS: Answer(
                happened="reboot",
                causes=("unrecorded",),
                confidence=("unknown",),
            )
        },
    ),
    Expected(
        act="update",
        node="gpu-001",
        answer=Answer(
            happened="reboot",
            causes=("host-maintenance",),
            confidence=SURE,
            actor="dpf",
        ),
        without={
            DPF: Answer(
                happened="reboot",
                # It was cordoned by what is called so, and why is not known.
                causes=("host-maintenance", "manual-drain", "unrecorded"),
                confidence=UNSURE,
            )
        },
    ),
    Expected(
        act="dpu",
        node="gpu-002",
        answer=Answer(
            happened="unreachable",
            causes=("link-fault",),
            confidence=("likely", "possible"),
            says=DPU,
        ),
        without={
            DPUS: Answer(
                happened="unreachable",
                causes=("network-partition",),
                confidence=UNSURE,
                never=(f"{DPU}: ",),
            )
        },
    ),
)

LOOKALIKES: Final = {"healthy switch": ("gpu-006", "gpu-007", "gpu-009")}
"""Acts after which these nodes have no verdict at all."""

GANGS: Final = {
    "llm-a": ("gpu-001", "gpu-002", "gpu-006"),
    "llm-b": ("gpu-003", "gpu-004", "gpu-007"),
}
"""Nodes of each gang. The last of each, behind another leaf, exits first;
what ended both is the leaf of the others."""
