"""Truths of incidents of several nodes, clocks, gaps, and of the kubelet."""

from tests.corpus.blind.truth import ABRUPT, Truth, asked, job

__all__ = ["NODES"]

EVICTED = ("EvictionByEvictionAPI, exit 143",)
TAINTED = ("DeletionByTaintManager, exit 255",)

NODES = (
    Truth(
        name="c15_two_machines_at_once",
        software="Kubernetes; JobSet: kubernetes-sigs/jobset",
        says="Two of four machines lose their power in one moment, with two "
        "of the four Pods of a JobSet, and boot one after the other.",
        questions=[
            asked(
                node,
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", label],
                must_not_say=["planned"],
                missing_evidence=["why the machines stopped"],
                jobs=[
                    job(
                        "JobSet/train/gemma",
                        32,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=TAINTED,
                        lost_on=["tm-2", "tm-3"],
                        gang=4,
                    )
                ],
            )
            for node, label in (("tm-2", "boot2"), ("tm-3", "boot3"))
        ],
    ),
    Truth(
        name="c16_two_nodes_cut_off",
        software="Kubernetes; LeaderWorkerSet: kubernetes-sigs/lws",
        says="Two of three nodes are not heard for half a minute; their "
        "containers go on, and nothing is evicted.",
        questions=[
            asked(
                node,
                "unreachable",
                (12, 9, 17),
                planned=False,
                stopped=["hang", "back"],
                must_not_say=["reboot", "power loss"],
                jobs=[
                    job(
                        "LeaderWorkerSet/serving/mixtral",
                        16,
                        "survived",
                        gang=2,
                    )
                ],
            )
            for node in ("co-2", "co-3")
        ],
    ),
    Truth(
        name="c19_clock_behind_drain",
        software="Kubernetes; a machine whose clock is 33 minutes behind",
        says="wes drains a node whose clock is wrong, it is power-cycled, he "
        "uncordons it.",
        audit=True,
        edited="what the kubelet of cb-2 wrote is 33 minutes behind",
        questions=[
            asked(
                "cb-2",
                "reboot",
                (14, 1, 11),
                planned=True,
                actor="wes",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="wes drained the node",
                must_not_say=["crash"],
                jobs=[
                    job(
                        "Job/train/wan",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=EVICTED,
                        lost_on=["cb-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c20_gap_with_audit",
        software="Kubernetes; the recorder was disconnected, the audit log "
        "was not",
        says="xena drains and power-cycles a node while no object is watched. "
        "Only the audit log holds who did it.",
        audit=True,
        edited="frames between two acts removed, then everything listed; "
        "audit records remain",
        questions=[
            asked(
                "ga-2",
                "reboot",
                (14, 1, 11),
                planned=True,
                actor="xena",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="xena drained the node",
                must_not_say=["coverage is complete"],
                missing_evidence=["everything but writes between the acts"],
                jobs=[
                    job(
                        "Job/train/audio",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        lost_on=["ga-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c21_ephemeral_storage_limit",
        software="local storage eviction: kubernetes/kubernetes "
        "pkg/kubelet/eviction/eviction_manager.go",
        says="The kubelet evicts a Pod that used more ephemeral storage than "
        "its limit. The node has no pressure, and stays.",
        questions=[
            asked(
                "ep-2",
                "none",
                planned=False,
                actor=None,
                must_not_say=["reboot", "drain", "disk pressure"],
                jobs=[
                    job(
                        "Job/train/shards",
                        4,
                        "evicted",
                        "restarted",
                        "rescheduled",
                        "failed",
                        how=("TerminationByKubelet, exit 137",),
                        lost_on=["ep-2"],
                    )
                ],
                not_hit=["train/rest"],
            )
        ],
    ),
    Truth(
        name="c22_snap_refresh",
        software="MicroK8s: canonical/microk8s "
        "microk8s-resources/wrappers/run-kubelite-with-args; snapd refreshes",
        says="snapd refreshes MicroK8s on all three nodes at once; each "
        "kubelet stops and starts six seconds later. Nothing records why.",
        questions=[
            asked(
                node,
                "kubelet_restart",
                (9, 10, 1),
                planned=None,
                stopped=["down", "up"],
                must_not_say=["reboot", "a person"],
                missing_evidence=["why the kubelets ended"],
                jobs=[job("Job/train/ppo", 24, "survived", gang=3)],
            )
            for node in ("mk-1", "mk-3")
        ],
    ),
    Truth(
        name="c23_flux_applies_a_taint",
        software="Flux: fluxcd/kustomize-controller "
        "internal/controller/kustomization_controller.go",
        says="Flux applies a taint NoExecute to a Node from Git, which evicts "
        "the Pods that do not tolerate it. The node stays.",
        audit=True,
        questions=[
            asked(
                "fx-2",
                "none",
                planned=False,
                actor=None,
                must_not_say=["reboot", "crash", "unreachable"],
                jobs=[
                    job(
                        "Job/train/asr2",
                        8,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=("DeletionByTaintManager, exit 143",),
                        lost_on=["fx-2"],
                    )
                ],
            )
        ],
    ),
)
