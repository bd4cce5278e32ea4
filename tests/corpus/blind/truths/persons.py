"""Truths of incidents in which persons act."""

from tests.corpus.blind.truth import ABRUPT, Truth, asked, job

__all__ = ["PERSONS"]

EVICTED = ("EvictionByEvictionAPI, exit 143",)
TAINTED = ("DeletionByTaintManager, exit 255",)
KILLED = ("no DisruptionTarget, exit 255",)
DELETED = ("no DisruptionTarget, exit 143",)

PERSONS = (
    Truth(
        name="b14_node_shell_reboot",
        software="kubectl-node-shell: kvaps/kubectl-node-shell "
        "kubectl-node_shell",
        says="dana reboots a machine through a privileged Pod of kubectl "
        "node-shell. No cordon, no drain.",
        audit=True,
        questions=[
            asked(
                "ns-2",
                "reboot",
                (1, 11, 14),
                planned=True,
                actor="dana",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="dana ran systemctl reboot in a node shell",
                must_not_say=["crash", "kernel panic"],
                jobs=[
                    job(
                        "Job/train/mamba",
                        16,
                        "restarted",
                        "evicted",
                        how=KILLED,
                        lost_on=["ns-2"],
                        gang=2,
                    )
                ],
                may_list=["default/nsenter-k3x9q2"],
            )
        ],
    ),
    Truth(
        name="b15_budget_then_no_eviction",
        software="kubectl drain --disable-eviction: kubernetes/kubectl "
        "pkg/drain/drain.go",
        says="omar's drain is refused by a PodDisruptionBudget; he drains "
        "again without evictions, the machine is power-cycled, he uncordons.",
        audit=True,
        questions=[
            asked(
                "pd-2",
                "reboot",
                (14, 1, 11),
                planned=True,
                actor="omar",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="omar drained the node",
                must_not_say=["crash"],
                jobs=[
                    job(
                        "Deployment/serve/chat",
                        16,
                        "restarted",
                        "rescheduled",
                        "evicted",
                        how=DELETED,
                        lost_on=["pd-2"],
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b16_kubelet_restart_by_erin",
        software="kubectl-node-shell: kvaps/kubectl-node-shell "
        "kubectl-node_shell",
        says="erin restarts a kubelet through kubectl node-shell.",
        audit=True,
        questions=[
            asked(
                "ke-2",
                "kubelet_restart",
                (1, 11, 14),
                planned=True,
                actor="erin",
                stopped=["down", "up"],
                trigger="erin ran systemctl restart kubelet in a node shell",
                must_not_say=["reboot", "crash"],
                jobs=[job("Job/train/dpo", 16, "survived", gang=2)],
                may_list=["default/nsenter-7pzw4d"],
            )
        ],
    ),
    Truth(
        name="b22_nic_swap_and_neighbour",
        software="kubectl; FlinkDeployment: apache/flink-kubernetes-operator",
        says="yuki drains a node for a change of its NIC and it is "
        "power-cycled; in the same minute its neighbour dies by itself.",
        audit=True,
        questions=[
            asked(
                "nc-2",
                "reboot",
                (14, 1, 11),
                planned=True,
                actor="yuki",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="yuki drained it: CHG-2207 replace NIC",
                must_not_say=["crash", "nc-3"],
                jobs=[
                    job(
                        "FlinkDeployment/flink/clicks",
                        2,
                        "rescheduled",
                        "restarted",
                        "evicted",
                        "still_down",
                        how=EVICTED,
                        lost_on=["nc-2"],
                    )
                ],
                not_hit=["train/sft"],
            ),
            asked(
                "nc-3",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot3"],
                must_not_say=["yuki", "planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "Job/train/sft",
                        16,
                        "restarted",
                        "evicted",
                        how=TAINTED,
                        lost_on=["nc-3"],
                        gang=2,
                    )
                ],
                not_hit=["flink/clicks"],
            ),
        ],
    ),
    Truth(
        name="b29_node_deleted_by_pablo",
        software="kubectl delete node: kubernetes/kubernetes "
        "pkg/controller/podgc/gc_controller.go",
        says="pablo deletes a Node whose machine runs on; its Pods are "
        "collected.",
        audit=True,
        questions=[
            asked(
                "dn-2",
                "removed",
                (15,),
                planned=True,
                actor="pablo",
                stopped=["removed", None],
                trigger="pablo deleted the Node",
                must_not_say=["crash", "scale-down", "reboot"],
                jobs=[
                    job(
                        "Job/train/sdxl",
                        16,
                        "still_down",
                        "evicted",
                        how=("DeletionByPodGC",),
                        lost_on=["dn-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b31_failed_then_drained",
        software="kubectl drain: kubernetes/kubectl pkg/drain/drain.go",
        says="A Job fails for good by its own exit; eight seconds later quinn "
        "drains the node for another. The machine stays up.",
        audit=True,
        questions=[
            asked(
                "fd-2",
                "none",
                planned=True,
                actor="quinn",
                must_not_say=["reboot", "crash"],
                jobs=[
                    job(
                        "Job/train/kto",
                        4,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["fd-2"],
                    )
                ],
                not_hit=["train/broken"],
            )
        ],
    ),
    Truth(
        name="b32_kubectl_sudo",
        software="kubectl-sudo: postfinance/kubectl-sudo",
        says="rita drains a node through kubectl sudo, which impersonates "
        "herself in the group system:masters; the machine is power-cycled.",
        audit=True,
        questions=[
            asked(
                "su-2",
                "reboot",
                (14, 1, 11),
                planned=True,
                actor="rita",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="rita drained the node",
                must_not_say=["crash"],
                jobs=[
                    job(
                        "Job/train/jepa",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=EVICTED,
                        lost_on=["su-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
)
