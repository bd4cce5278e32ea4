"""Truths of incidents in which a node goes down or away."""

from tests.corpus.blind.truth import ABRUPT, REBOOT_ORDERED, Truth, asked, job

__all__ = ["NODES"]

EVICTED = ("EvictionByEvictionAPI, exit 143",)
KILLED = ("no DisruptionTarget, exit 255",)
TAINTED = ("DeletionByTaintManager, exit 255",)

BY_ITSELF = "why the machine stopped"

NODES = (
    Truth(
        name="d01_zalando_replaces_spot",
        software="cluster-lifecycle-manager: "
        "zalando-incubator/cluster-lifecycle-manager "
        "pkg/updatestrategy/node_pool_manager.go; it labels "
        "lifecycle-status and taints decommission-pending",
        says="The manager labels and taints a node, cordons it, evicts its "
        "Pods and terminates its instance; the cloud's node lifecycle "
        "controller deletes the Node.",
        questions=[
            asked(
                "zl-2",
                "removed",
                (10, 11, 13, 14, 15),
                planned=True,
                actor="cluster-lifecycle-manager",
                stopped=["off", None],
                trigger="the node is to be decommissioned",
                must_not_say=["crash", "a person"],
                jobs=[
                    job(
                        "Deployment/serve/catalog",
                        4,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["zl-2"],
                    )
                ],
            )
        ],
    ),
    Truth(
        name="d02_sap_maintenance",
        software="maintenance-controller: sapcc/maintenance-controller "
        "constants/constants.go, plugin/impl/kubernikus.go",
        says="The controller labels a node in-maintenance and records its "
        "state in an annotation, cordons and drains it; the machine is "
        "power-cycled; the controller uncordons it and labels it "
        "operational.",
        questions=[
            asked(
                "sm-2",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="maintenance-controller",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="the maintenance profile of the node",
                must_not_say=["crash", "kernel panic"],
                jobs=[
                    job(
                        "Job/train/sam",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=EVICTED,
                        lost_on=["sm-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="d03_governor_reaps",
        software="governor: keikoproj/governor "
        "pkg/reaper/nodereaper/nodereaper.go, helpers.go",
        says="The reaper of old nodes annotates a node draining, drains it "
        "with kubectl under its service account, terminates its instance, "
        "and annotates that; the cloud's node lifecycle controller deletes "
        "the Node.",
        audit=True,
        questions=[
            asked(
                "gr-2",
                "removed",
                (11, 13, 14, 15),
                planned=True,
                actor="node-reaper",
                stopped=["off", None],
                trigger="the age of the node",
                must_not_say=["crash"],
                jobs=[
                    job(
                        "StatefulSet/db/weaviate",
                        2,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["gr-2"],
                    )
                ],
            )
        ],
    ),
    Truth(
        name="d04_chaosmesh_by_uma",
        software="Chaos Mesh: chaos-mesh/chaos-mesh "
        "controllers/chaosimpl/awschaos/ec2restart/impl.go",
        says="uma creates an AWSChaos that restarts the instance of a node. "
        "The controller writes Events about the AWSChaos, and nothing about "
        "the Node.",
        audit=True,
        questions=[
            asked(
                "cm-2",
                "reboot",
                (1, 11, 14),
                planned=True,
                actor="uma",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="an AWSChaos that uma created",
                must_not_say=["kernel panic"],
                jobs=[
                    job(
                        "Job/train/bloom",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=KILLED,
                        lost_on=["cm-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="d05_calico_restarts_then_crash",
        software="Calico: projectcalico/calico "
        "node/pkg/lifecycle/utils/utils.go",
        says="calico-node restarts on two nodes after a change of its "
        "DaemonSet and sets NetworkUnavailable for some seconds on each; "
        "half a minute later one machine dies by itself.",
        questions=[
            asked(
                "ca-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["calico", "planned"],
                missing_evidence=[BY_ITSELF],
                jobs=[
                    job(
                        "Job/train/vit",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=TAINTED,
                        lost_on=["ca-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="d06_eks_rolling_update_by_tara",
        software="eks-rolling-update: hellofresh/eks-rolling-update "
        "eksrollup/lib/k8s.py",
        says="tara runs a tool that cordons a node, drains it with kubectl, "
        "terminates its instance and deletes the Node, all as her.",
        audit=True,
        questions=[
            asked(
                "ek-2",
                "removed",
                (10, 11, 13, 14, 15),
                planned=True,
                actor="tara",
                stopped=["off", None],
                trigger="tara drained the node",
                must_not_say=["crash"],
                jobs=[
                    job(
                        "Deployment/serve/search",
                        4,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["ek-2"],
                    )
                ],
                not_hit=["train/stays"],
            )
        ],
    ),
    Truth(
        name="d07_scaled_to_zero_then_crash",
        software="Kubernetes: kubectl scale",
        says="yuri scales a Deployment to zero; eight seconds later the "
        "machine on which it ran dies by itself with a Pod of a Job.",
        audit=True,
        questions=[
            asked(
                "sz-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["yuri", "planned"],
                missing_evidence=[BY_ITSELF],
                jobs=[
                    job(
                        "Job/train/tts",
                        4,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=TAINTED,
                        lost_on=["sz-2"],
                    )
                ],
                not_hit=["serve/legacy"],
            )
        ],
    ),
    Truth(
        name="d08_kubespray_upgrade",
        software="Kubespray: kubernetes-sigs/kubespray "
        "roles/upgrade/pre-upgrade/tasks/main.yml, "
        "roles/upgrade/post-upgrade/tasks/main.yml",
        says="Ansible cordons and drains a node with the kubeconfig of the "
        "administrator, restarts the kubelet and uncordons the node. The "
        "machine does not reboot.",
        audit=True,
        questions=[
            asked(
                "ks-2",
                "kubelet_restart",
                (14, 1, 10, 11),
                planned=True,
                actor="kubernetes-admin",
                stopped=["down", "up"],
                trigger="the administrator drained the node",
                must_not_say=["reboot", "crash"],
                jobs=[
                    job(
                        "Deployment/serve/vote",
                        4,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["ks-2"],
                    )
                ],
            )
        ],
    ),
    Truth(
        name="d09_drain_beside_a_crash",
        software="Kubernetes: kubectl drain",
        says="zoe drains one node and has it power-cycled; meanwhile the "
        "machine of another dies by itself, and boots later.",
        audit=True,
        questions=[
            asked(
                "db-1",
                "reboot",
                (14, 1, 11),
                planned=True,
                actor="zoe",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="zoe drained the node",
                must_not_say=["crash"],
                jobs=[
                    job(
                        "Deployment/serve/chat2",
                        4,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["db-1"],
                    )
                ],
                not_hit=["train/alone"],
            ),
            asked(
                "db-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot2"],
                must_not_say=["zoe", "planned"],
                missing_evidence=[BY_ITSELF],
                jobs=[
                    job(
                        "Job/train/alone",
                        8,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        "still_down",
                        how=TAINTED,
                        lost_on=["db-2"],
                    )
                ],
                not_hit=["serve/chat2"],
            ),
        ],
    ),
)
