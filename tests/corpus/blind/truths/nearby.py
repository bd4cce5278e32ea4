"""Truths of crashes beside which something else happens, and of odd owners."""

from tests.corpus.blind.truth import ABRUPT, Truth, asked, job

__all__ = ["NEARBY"]

TAINTED = ("DeletionByTaintManager, exit 255",)
DELETED = ("no DisruptionTarget, exit 143",)

NEARBY = (
    Truth(
        name="b23_odd_owners",
        software="TaskRun: tektoncd/pipeline; EphemeralRunner: "
        "actions/actions-runner-controller; VirtualMachineInstance: "
        "kubevirt/kubevirt",
        says="A machine dies with Pods of a TaskRun, an EphemeralRunner and a "
        "virtual machine. The runner gets another Pod of the same name.",
        questions=[
            asked(
                "od-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "TaskRun/ci/unit-tests-r4x",
                        1,
                        "still_down",
                        "failed",
                        how=TAINTED,
                        lost_on=["od-2"],
                    ),
                    job(
                        "EphemeralRunner/arc/gpu-runner-x7",
                        1,
                        "restarted",
                        "rescheduled",
                        "evicted",
                        how=TAINTED,
                        lost_on=["od-2"],
                    ),
                    job(
                        "VirtualMachineInstance/vms/desk-7",
                        1,
                        "still_down",
                        "failed",
                        how=TAINTED,
                        lost_on=["od-2"],
                    ),
                ],
            )
        ],
    ),
    Truth(
        name="b24_yunikorn_preempts",
        software="Apache YuniKorn: apache/yunikorn-core "
        "pkg/scheduler/objects/preemption.go, apache/yunikorn-k8shim",
        says="YuniKorn deletes the Pod of one application for another of a "
        "queue with a guarantee. Its Event names the application.",
        questions=[
            asked(
                "yk-2",
                "none",
                planned=False,
                actor=None,
                must_not_say=["reboot", "node failure", "drain"],
                jobs=[
                    job(
                        "Job/train/low",
                        8,
                        "preempted",
                        "evicted",
                        "restarted",
                        "rescheduled",
                        "still_down",
                        how=DELETED,
                        lost_on=["yk-2"],
                    )
                ],
                not_hit=["train/high"],
                may_list=["train/high"],
            )
        ],
    ),
    Truth(
        name="b25_cilium_upgrade_then_crash",
        software="Cilium: cilium/cilium operator/watchers/node_taint.go",
        says="The Cilium operator taints each node while its agent is "
        "upgraded, and sets NetworkUnavailable. Ten seconds after that has "
        "ended everywhere, one machine dies by itself.",
        questions=[
            asked(
                "ci-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["cilium as the cause", "link fault", "planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "Job/train/yolo",
                        16,
                        "restarted",
                        "evicted",
                        how=TAINTED,
                        lost_on=["ci-2"],
                        gang=2,
                    )
                ],
            ),
            asked(
                "ci-1",
                "none",
                planned=False,
                actor=None,
                must_not_say=["reboot", "unreachable"],
                may_list=["train/yolo"],
            ),
        ],
    ),
    Truth(
        name="b26_rollout_then_crash",
        software="kubectl rollout restart: kubernetes/kubectl",
        says="ivan restarts a Deployment, whose Pod leaves the node; ten "
        "seconds later the machine dies by itself.",
        audit=True,
        questions=[
            asked(
                "rc-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["ivan", "planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "Job/train/sam",
                        8,
                        "restarted",
                        "evicted",
                        how=TAINTED,
                        lost_on=["rc-2"],
                        gang=2,
                    )
                ],
                not_hit=["serve/search"],
            )
        ],
    ),
    Truth(
        name="b27_clock_ahead",
        software="Kubernetes; a machine whose clock is 47 minutes ahead",
        says="A machine with a wrong clock dies by itself and boots.",
        edited="what the kubelet of ca-2 wrote is 47 minutes ahead",
        questions=[
            asked(
                "ca-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "Job/train/nerf",
                        16,
                        "restarted",
                        "evicted",
                        how=TAINTED,
                        lost_on=["ca-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b28_cancelled_then_crash",
        software="Armada: armadaproject/armada internal/executor",
        says="Armada's executor deletes the Pod of a job that was cancelled; "
        "ten seconds later the machine dies with another of its jobs.",
        audit=True,
        questions=[
            asked(
                "ar-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["armada", "planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "Pod/team-a/armada-01j9x8-0",
                        4,
                        "still_down",
                        "failed",
                        how=TAINTED,
                        lost_on=["ar-2"],
                    )
                ],
                not_hit=["team-a/armada-01j9w2-0"],
            )
        ],
    ),
)
