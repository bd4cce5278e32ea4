"""Truths of losses beside which something happens that did not cause them."""

from tests.corpus.blind.truth import ABRUPT, Truth, asked, job

__all__ = ["BESIDE"]

EVICTED = ("EvictionByEvictionAPI, exit 143",)
TAINTED = ("DeletionByTaintManager, exit 255",)
KILLED = ("no DisruptionTarget, exit 255",)

BESIDE = (
    Truth(
        name="c11_rufio_without_a_trace",
        software="Rufio of Tinkerbell: tinkerbell/rufio "
        "controller/task.go; it acts on the BMC, not on the Node",
        says="A machine is power-cycled over IPMI. Nothing in the cluster "
        "records who asked for it, or that it was asked for.",
        questions=[
            asked(
                "rf-2",
                "reboot",
                (1, 3, 5, 11),
                planned=None,
                boots=(1, 2),
                stopped=["off", "boot"],
                must_not_say=["kernel panic as a fact", "a person"],
                missing_evidence=["who switched the machine off"],
                jobs=[
                    job(
                        "Job/train/vqgan",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=KILLED,
                        lost_on=["rf-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c12_readiness_after_crash",
        software="node-readiness-controller: "
        "kubernetes-sigs/node-readiness-controller "
        "internal/controller/nodereadinessrule_controller.go; JobSet: "
        "kubernetes-sigs/jobset",
        says="A machine dies by itself and boots. The controller then taints "
        "the node until its network is ready.",
        questions=[
            asked(
                "nr-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["node-readiness-controller", "planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "JobSet/train/rwkv",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=TAINTED,
                        lost_on=["nr-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c13_nfd_then_crash",
        software="Node Feature Discovery: "
        "kubernetes-sigs/node-feature-discovery pkg/nfd-master/nfd-master.go; "
        "ElasticJob of DLRover: intelligent-machine-learning/dlrover",
        says="nfd-master labels and taints nodes after a change of its rules; "
        "ten seconds later one machine dies by itself.",
        questions=[
            asked(
                "nf-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["nfd-master", "planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "ElasticJob/train/glm",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=TAINTED,
                        lost_on=["nf-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c14_grove_cliques",
        software="Grove: ai-dynamo/grove operator/api/core/v1alpha1",
        says="A machine dies by itself with both Pods of a PodCliqueSet, "
        "which are owned through a PodClique each.",
        questions=[
            asked(
                "gv-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "PodCliqueSet/inference/deepseek",
                        8,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=TAINTED,
                        lost_on=["gv-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="c17_deadline_then_crash",
        software="activeDeadlineSeconds of a Job: kubernetes/kubernetes "
        "pkg/controller/job/job_controller.go",
        says="A Job reaches its deadline and fails; ten seconds later the "
        "machine dies by itself with a Pod of another.",
        questions=[
            asked(
                "dl-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "Job/train/vae",
                        8,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=TAINTED,
                        lost_on=["dl-2"],
                        gang=2,
                    )
                ],
                not_hit=["train/sweep"],
            )
        ],
    ),
    Truth(
        name="c18_failure_policy_then_drain",
        software="podFailurePolicy of a Job: kubernetes/kubernetes "
        "pkg/controller/job/pod_failure_policy.go; kubectl drain",
        says="A Job fails for good by the exit code 42; eight seconds later "
        "vera drains the node, which is power-cycled.",
        audit=True,
        questions=[
            asked(
                "fp-2",
                "reboot",
                (14, 1, 11),
                planned=True,
                actor="vera",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="vera drained the node",
                must_not_say=["crash"],
                jobs=[
                    job(
                        "Job/train/kandinsky",
                        8,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=EVICTED,
                        lost_on=["fp-2"],
                        gang=2,
                    )
                ],
                not_hit=["train/probe"],
            )
        ],
    ),
)
