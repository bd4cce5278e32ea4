"""Truths of incidents in which a program or a person takes a node away."""

from tests.corpus.blind.truth import REBOOT_ORDERED, Truth, asked, job

__all__ = ["CONTROLLERS"]

EVICTED = ("EvictionByEvictionAPI, exit 143",)
KILLED = ("no DisruptionTarget, exit 255",)
DELETED = ("no DisruptionTarget, exit 143",)

CONTROLLERS = (
    Truth(
        name="c01_hyperpod_label_by_gwen",
        software="SageMaker HyperPod: docs.aws.amazon.com "
        "sagemaker-hyperpod-eks-resiliency-manual.html",
        says="gwen labels a node UnschedulablePendingReboot, by which "
        "HyperPod taints the node and reboots its instance.",
        audit=True,
        questions=[
            asked(
                "hp-2",
                "reboot",
                (1, 11, 14),
                planned=True,
                actor="gwen",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="gwen labelled the node for a reboot",
                must_not_say=["crash", "kernel panic"],
                jobs=[
                    job(
                        "HyperPodPyTorchJob/train/llama",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=KILLED,
                        lost_on=["hp-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c02_hyperpod_replaces",
        software="SageMaker HyperPod: docs.aws.amazon.com "
        "sagemaker-hyperpod-eks-resiliency-node-labels.html; JobSet: "
        "kubernetes-sigs/jobset",
        says="HyperPod's health agent labels a node for replacement, HyperPod "
        "terminates its instance and deletes the Node; another one joins.",
        audit=True,
        questions=[
            asked(
                "hr-2",
                "removed",
                (2, 11, 15),
                planned=True,
                actor="hyperpod",
                stopped=["off", None],
                trigger="the health agent annotated a GPU fault",
                must_not_say=["scale-down", "a person"],
                jobs=[
                    job(
                        "JobSet/train/dit",
                        16,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        lost_on=["hr-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c03_preemptible_killer",
        software="estafette-gke-preemptible-killer: "
        "estafette/estafette-gke-preemptible-killer main.go, kubernetes.go",
        says="The killer cordons a preemptible node whose time is over, "
        "deletes its Pods (no evictions), the Node, and then the instance.",
        questions=[
            asked(
                "et-2",
                "removed",
                (11, 13, 14, 15),
                planned=True,
                actor="estafette",
                stopped=["removed", None],
                trigger="the time in its annotation had passed",
                must_not_say=["crash", "unreachable"],
                jobs=[
                    job(
                        "Deployment/serve/reco",
                        4,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=DELETED,
                        lost_on=["et-2"],
                    )
                ],
                not_hit=["train/base"],
            )
        ],
    ),
    Truth(
        name="c04_ec2_autoscaler",
        software="kubernetes-ec2-autoscaler: openai/kubernetes-ec2-autoscaler "
        "autoscaler/kube.py",
        says="The autoscaler cordons an idle node with a label of its own, "
        "deletes its Pods, deletes the Node and terminates the instance.",
        audit=True,
        questions=[
            asked(
                "oa-3",
                "removed",
                (13, 14, 15),
                planned=True,
                actor="autoscaler",
                stopped=["removed", None],
                trigger="the node was idle",
                must_not_say=["crash", "a person"],
                jobs=[
                    job(
                        "StatefulSet/db/faiss",
                        2,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=DELETED,
                        lost_on=["oa-3"],
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c05_litmus_node_restart",
        software="Litmus: litmuschaos/litmus-go "
        "chaoslib/litmus/node-restart/lib/node-restart.go",
        says="A chaos experiment reboots a node through a Pod that runs "
        "elsewhere and enters it by SSH; its Event names the node.",
        audit=True,
        questions=[
            asked(
                "lt-2",
                "reboot",
                (1, 11, 14),
                planned=True,
                actor="litmus",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="the experiment node-restart",
                must_not_say=["kernel panic"],
                jobs=[
                    job(
                        "Job/train/mae",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=KILLED,
                        lost_on=["lt-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c06_harvester_maintenance",
        software="Harvester: harvester/harvester "
        "pkg/controller/master/node/maintain_controller.go",
        says="Harvester puts a node into maintenance mode: it cordons and "
        "drains it and writes its state to an annotation. The machine is "
        "power-cycled; Harvester takes it back.",
        audit=True,
        questions=[
            asked(
                "hv-2",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="harvester",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="maintenance mode",
                must_not_say=["crash"],
                jobs=[
                    job(
                        "StatefulSet/db/milvus",
                        1,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["hv-2"],
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c07_tuppr_upgrade",
        software="tuppr: home-operations/tuppr "
        "internal/controller/drain/drain.go, "
        "internal/controller/talosupgrade/nodes.go; LeaderWorkerSet: "
        "kubernetes-sigs/lws",
        says="tuppr labels, cordons and drains a node, a Job elsewhere "
        "upgrades it, it boots into another Talos, tuppr uncordons it. "
        "LeaderWorkerSet deletes the leader of the group whose worker was "
        "evicted.",
        questions=[
            asked(
                "tu-2",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="tuppr",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="a TalosUpgrade",
                must_not_say=["crash", "kernel panic"],
                jobs=[
                    job(
                        "LeaderWorkerSet/serving/qwen",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=EVICTED,
                        lost_on=["tu-2"],
                        gang=2,
                    )
                ],
                may_list=["system-upgrade/tuppr-talos-tu-2-1a2b3c"],
            )
        ],
    ),
    Truth(
        name="c08_piraeus_lost_quorum",
        software="Piraeus high availability controller: "
        "piraeusdatastore/piraeus-ha-controller "
        "pkg/agent/reconcile_failover.go, pkg/metadata/metadata.go",
        says="A volume loses its quorum. The controller taints the node and "
        "evicts the Pod that uses the volume; the node stays.",
        questions=[
            asked(
                "dr-2",
                "none",
                planned=False,
                actor=None,
                must_not_say=["reboot", "node failure"],
                jobs=[
                    job(
                        "StatefulSet/db/qdrant",
                        1,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["dr-2"],
                    )
                ],
                not_hit=["train/calm"],
            )
        ],
    ),
    Truth(
        name="c09_koordinator_migrates",
        software="Koordinator: koordinator-sh/koordinator "
        "pkg/descheduler/controllers/migration/evictor/evictor_native.go",
        says="Koordinator's descheduler evicts one Pod to balance the load; "
        "the node stays, and so does what else runs there.",
        audit=True,
        questions=[
            asked(
                "kd-2",
                "none",
                planned=False,
                actor=None,
                must_not_say=["reboot", "drain"],
                jobs=[
                    job(
                        "Deployment/serve/ranker",
                        4,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["kd-2"],
                    )
                ],
                not_hit=["train/stay"],
            )
        ],
    ),
    Truth(
        name="c10_kai_preempts_a_gang",
        software="KAI Scheduler: NVIDIA/KAI-Scheduler "
        "pkg/scheduler/cache/cache.go; PaddleJob: kubeflow/trainer",
        says="KAI deletes both Pods of a gang on two nodes for a workload of "
        "higher priority. Its Events are about the PodGroup.",
        questions=[
            asked(
                node,
                "none",
                planned=False,
                actor=None,
                must_not_say=["reboot", "node failure", "drain"],
                jobs=[
                    job(
                        "PaddleJob/train/ernie",
                        16,
                        "preempted",
                        "evicted",
                        "restarted",
                        "rescheduled",
                        "still_down",
                        how=DELETED,
                        lost_on=["kq-1", "kq-2"],
                        gang=2,
                    )
                ],
                not_hit=["train/urgent"],
                may_list=["train/urgent"],
            )
            for node in ("kq-1", "kq-2")
        ],
    ),
    Truth(
        name="c24_kubeadm_upgrade_by_nils",
        software="kubeadm upgrade node: kubernetes/website "
        "content/en/docs/tasks/administer-cluster/kubeadm/"
        "upgrading-linux-nodes.md",
        says="nils drains a node, upgrades it with kubeadm, restarts its "
        "kubelet, and uncordons it. The machine does not reboot.",
        audit=True,
        questions=[
            asked(
                "ku-2",
                "kubelet_restart",
                (14, 1, 10, 11),
                planned=True,
                actor="nils",
                stopped=["down", "up"],
                trigger="nils drained the node",
                must_not_say=["reboot", "crash"],
                jobs=[
                    job(
                        "Deployment/serve/guard",
                        4,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["ku-2"],
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c25_teleport_ines",
        software="Teleport: gravitational/teleport "
        "lib/kube/proxy/forwarder.go",
        says="ines drains a node through Teleport, whose service account "
        "impersonates her; the machine is power-cycled, she uncordons it.",
        audit=True,
        questions=[
            asked(
                "tp-2",
                "reboot",
                (14, 1, 11),
                planned=True,
                actor="ines",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="ines drained the node",
                must_not_say=["crash", "teleport decided"],
                jobs=[
                    job(
                        "Job/train/sora",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=EVICTED,
                        lost_on=["tp-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
)
