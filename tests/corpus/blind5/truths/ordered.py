"""What is true where a person or a program decided."""

from tests.corpus.blind.truth import REBOOT_ORDERED, Truth, asked, job

__all__ = ["ORDERED"]

NODE_TAKEN_AWAY = (15, 11, 13, 14, 10, 1)
"""A program that empties a node for good says no more than that."""

ORDERED = (
    Truth(
        name="f01_deckhouse_reboot_by_pia",
        software="Deckhouse: deckhouse/deckhouse candi/bashible "
        "(the step of update.node.deckhouse.io/reboot), "
        "modules/040-node-manager (node-draining)",
        says="pia annotates a node for a reboot. bashible on the node asks "
        "for a drain, with the credentials of the kubelet; Deckhouse cordons "
        "the node and evicts its Pods, bashible reboots the machine, and "
        "Deckhouse uncordons it.",
        audit=True,
        questions=[
            asked(
                "dh-1",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="pia",
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/sam",
                        4,
                        "rescheduled",
                        "evicted",
                        lost_on=["dh-1"],
                    )
                ],
                not_hit=["train/lang"],
                must_not_say=["the kubelet decided", "crash"],
            ),
            asked(
                "dh-2",
                "none",
                planned=False,
                jobs=[job("Job/train/lang", 4, "survived")],
                may_list=["train/sam"],
            ),
        ],
    ),
    Truth(
        name="f02_node_operator_drains",
        software="Giant Swarm node-operator: giantswarm/node-operator "
        "service/controller/resource/drainer/create.go",
        says="node-operator, which runs in a management cluster, cordons a "
        "node of its tenant and evicts its Pods; the instance is terminated, "
        "and the cloud's node lifecycle controller deletes the Node.",
        questions=[
            asked(
                "no-1",
                "removed",
                NODE_TAKEN_AWAY,
                planned=True,
                actor="node-operator",
                jobs=[
                    job(
                        "Job/train/tabnet",
                        7,
                        "rescheduled",
                        "evicted",
                        lost_on=["no-1"],
                    ),
                    job(
                        "Deployment/serve/rank",
                        1,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        lost_on=["no-1"],
                    ),
                ],
                must_not_say=["crash", "a person"],
            )
        ],
    ),
    Truth(
        name="f03_nodereaper_deletes_itself",
        software="nodereaper: wish/nodereaper nodereaperd/main.go, "
        "pkg/deletion/deletion.go",
        says="The controller of nodereaper labels a node, because it is too "
        "old. Its daemon on that node cordons it, evicts its Pods, taints "
        "it, deletes the Node, and powers its own machine off.",
        questions=[
            asked(
                "nr-1",
                "removed",
                NODE_TAKEN_AWAY,
                planned=True,
                actor="nodereaper",
                jobs=[
                    job(
                        "Job/train/mixer",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["nr-1"],
                    )
                ],
                must_not_say=["power loss", "a person"],
            )
        ],
    ),
    Truth(
        name="f04_lambda_drainer",
        software="amazon-k8s-node-drainer: aws-samples/"
        "amazon-k8s-node-drainer drainer/k8s_utils.py, drainer/handler.py",
        says="A function of AWS Lambda, called by a lifecycle hook of an "
        "autoscaling group, cordons a node and evicts its Pods as the user "
        "lambda; the instance ends, and the cloud's node lifecycle "
        "controller deletes the Node.",
        audit=True,
        questions=[
            asked(
                "la-1",
                "removed",
                NODE_TAKEN_AWAY,
                planned=True,
                actor="lambda",
                jobs=[
                    job(
                        "Job/train/wav2vec",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["la-1"],
                    )
                ],
                must_not_say=["crash"],
            )
        ],
    ),
    Truth(
        name="f05_dora_as_service_account",
        software="kubectl --as: kubernetes/kubectl; impersonation: "
        "kubernetes/kubernetes staging/src/k8s.io/apiserver",
        says="dora drains a node as a service account that she impersonates, "
        "the machine is power-cycled, and she uncordons it the same way. The "
        "audit log has both names.",
        audit=True,
        questions=[
            asked(
                "im-1",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="dora",
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/pix",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["im-1"],
                    )
                ],
                must_not_say=["a program decided", "crash"],
            )
        ],
    ),
    Truth(
        name="f06_ada_then_bob",
        software="Kubernetes: kubectl drain, kubectl uncordon",
        says="ada drains a node and it is power-cycled; bob, who relieves "
        "her, uncordons it.",
        audit=True,
        questions=[
            asked(
                "ho-1",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="ada",
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/crnn",
                        4,
                        "rescheduled",
                        "evicted",
                        lost_on=["ho-1"],
                    )
                ],
                must_not_say=["bob as the one who asked for it", "crash"],
            ),
            asked(
                "ho-2",
                "none",
                planned=False,
                jobs=[job("Job/train/filler", 4, "survived")],
                may_list=["train/crnn"],
            ),
        ],
    ),
    Truth(
        name="f07_budget_stops_nils",
        software="Kubernetes: kubectl drain --timeout; PodDisruptionBudget",
        says="nils drains a node. One Pod leaves it, the other is held by "
        "its budget; the drain times out, and nils uncordons the node. The "
        "machine was not touched.",
        audit=True,
        questions=[
            asked(
                "pb-1",
                "none",
                (14, 1, 11),
                planned=True,
                actor="nils",
                jobs=[
                    job(
                        "Job/train/bulk",
                        4,
                        "rescheduled",
                        "evicted",
                        lost_on=["pb-1"],
                    ),
                    job("Deployment/serve/single", 1, "survived"),
                ],
                not_hit=["serve/single"],
                must_not_say=["reboot"],
            )
        ],
    ),
    Truth(
        name="f08_pod_reaper",
        software="pod-reaper: target/pod-reaper reaper/reaper.go",
        says="pod-reaper deletes a Pod of a Deployment, because it ran for "
        "longer than it may; another is created. The node stays, and so does "
        "what else runs there.",
        audit=True,
        questions=[
            asked(
                "rp-1",
                "none",
                planned=True,
                actor="pod-reaper",
                jobs=[
                    job(
                        "Deployment/serve/cache",
                        1,
                        "restarted",
                        "rescheduled",
                        "evicted",
                        lost_on=["rp-1"],
                    ),
                    job("Job/train/glue", 4, "survived"),
                ],
                must_not_say=["reboot"],
            )
        ],
    ),
)
