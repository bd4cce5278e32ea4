"""What is true where machines die by themselves, near something else."""

from collections.abc import Sequence
from typing import Any

from tests.corpus.blind.truth import ABRUPT, REBOOT_ORDERED, Truth, asked, job

__all__ = ["NEAR"]


def _back(title: str, gpus: int, node: str, **more: Any) -> dict[str, Any]:
    return job(title, gpus, "restarted", "rescheduled", lost_on=[node], **more)


def _died(
    node: str, jobs: Sequence[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    usual = {"boots": (1, 2), "stopped": ("crash", "boot")}
    return asked(
        node, "reboot", ABRUPT, planned=False, jobs=jobs, **(usual | more)
    )


NEAR = (
    Truth(
        name="g09_hpe_pod_monitor",
        software="HPE CSI driver: hpe-storage/csi-driver "
        "pkg/monitor/monitor.go, pkg/flavor/kubernetes/flavor.go",
        says="A machine dies by itself. The pod monitor of HPE's CSI driver "
        "force-deletes the Pod there that it monitors, so that it starts "
        "elsewhere; the machine boots.",
        questions=[
            _died(
                "hp-1",
                [
                    _back("Deployment/serve/mosaic", 1, "hp-1"),
                    _back("Job/train/asr", 4, "hp-1"),
                ],
                must_not_say=["the driver decided", "planned"],
            )
        ],
    ),
    Truth(
        name="g10_completed_then_crash",
        software="Kubernetes: kubernetes/kubernetes pkg/controller/job",
        says="A Job completes on a node; six seconds later the machine dies "
        "by itself, under another Job.",
        questions=[
            _died(
                "co-1",
                [
                    _back("Job/train/long", 4, "co-1"),
                    job("Job/train/short", 4, "survived"),
                ],
                not_hit=["train/short"],
                must_not_say=["planned"],
            )
        ],
    ),
    Truth(
        name="g11_refused_drain_then_crash",
        software="Kubernetes: kubectl drain --timeout; PodDisruptionBudget",
        says="eva's drain is held by a budget and times out, so she uncordons "
        "the node and leaves it. Twelve seconds later the machine dies by "
        "itself.",
        audit=True,
        questions=[
            _died(
                "rf-1",
                [_back("Deployment/serve/lone", 1, "rf-1")],
                must_not_say=["eva", "planned"],
            )
        ],
    ),
    Truth(
        name="g13_hugo_then_again",
        software="Kubernetes: kubectl drain",
        says="hugo drains a node, the machine is power-cycled, and he "
        "uncordons it. A new Job starts there, and soon the machine dies by "
        "itself.",
        audit=True,
        questions=[
            asked(
                "ha-1",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="hugo",
                window=["start", "uncordon"],
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/gan",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["ha-1"],
                    )
                ],
                must_not_say=["crash"],
            ),
            _died(
                "ha-1",
                [_back("Job/train/next", 8, "ha-1")],
                window=["uncordon", "end"],
                boots=(2, 3),
                stopped=("crash", "again"),
                not_hit=["train/gan"],
                must_not_say=["hugo", "planned"],
            ),
        ],
    ),
    Truth(
        name="g14_drain_beside_partition",
        software="Kubernetes: kubectl drain; a switch that drops a node",
        says="kim drains a node, which is power-cycled. Meanwhile another "
        "node cannot be reached for half a minute; its Job goes on.",
        audit=True,
        questions=[
            asked(
                "pa-1",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="kim",
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/srgan",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["pa-1"],
                    )
                ],
                not_hit=["train/tts"],
                must_not_say=["crash"],
            ),
            asked(
                "pa-2",
                "unreachable",
                (12, 9, 16),
                planned=False,
                stopped=("hang", "answers"),
                jobs=[job("Job/train/tts", 8, "survived")],
                not_hit=["train/tts", "train/srgan"],
                must_not_say=["kim", "reboot"],
            ),
        ],
    ),
    Truth(
        name="g15_nodes_not_heard",
        software="Kubernetes; the recorder lost its watch of Nodes",
        says="While Nodes are not heard, all else is, a machine dies by "
        "itself and boots.",
        edited="what was watched of Nodes between gap and heard is removed",
        questions=[
            asked(
                "nn-1",
                "reboot",
                ABRUPT,
                planned=None,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[_back("Job/train/hmm", 8, "nn-1")],
                must_not_say=["planned"],
                missing_evidence=["what was written to the Node meanwhile"],
            )
        ],
    ),
    Truth(
        name="g16_one_host_two_nodes",
        software="Kubernetes; two virtual machines of one host",
        says="The host of two virtual machines dies by itself; both boot "
        "when it is back.",
        questions=[
            _died(
                node,
                [
                    _back("Job/train/duo", 10, node, gang=2),
                    _back("Deployment/serve/pair", 2, node),
                ],
                must_not_say=["planned"],
            )
            for node in ("vm-1", "vm-2")
        ],
    ),
    Truth(
        name="g17_statefulset_waits",
        software="StatefulSet: kubernetes/kubernetes "
        "pkg/controller/statefulset",
        says="A machine dies by itself with the Pod of a StatefulSet, which "
        "is deleted but not replaced until the machine boots.",
        questions=[
            _died(
                "ss-1",
                [_back("StatefulSet/db/index", 2, "ss-1")],
                must_not_say=["planned"],
            ),
            asked(
                "ss-2",
                "none",
                planned=False,
                jobs=[job("Job/train/steady", 8, "survived")],
                not_hit=["train/steady"],
            ),
        ],
    ),
    Truth(
        name="g18_quota_keeps_it_down",
        software="ResourceQuota: kubernetes/kubernetes "
        "plugin/pkg/admission/resourcequota; ReplicaSet: "
        "pkg/controller/replicaset",
        says="A machine dies by itself and boots. The Pod of a Deployment is "
        "not created again, because a quota allows none any more.",
        questions=[
            _died(
                "qu-1",
                [
                    job(
                        "Deployment/serve/board",
                        1,
                        "still_down",
                        "down",
                        lost_on=["qu-1"],
                    ),
                    _back("Job/train/tcn", 4, "qu-1"),
                ],
                must_not_say=["planned"],
            )
        ],
    ),
    Truth(
        name="g19_job_without_retries",
        software="backoffLimit of a Job: kubernetes/kubernetes "
        "pkg/controller/job/job_controller.go",
        says="A machine dies by itself and boots. A Job there that may not "
        "fail once has failed; another starts again.",
        questions=[
            _died(
                "br-1",
                [
                    job("Job/train/once", 4, "failed", lost_on=["br-1"]),
                    _back("Job/train/many", 4, "br-1"),
                ],
                must_not_say=["planned"],
            )
        ],
    ),
    Truth(
        name="g20_cloud_shut_down",
        software="cloud node lifecycle controller: kubernetes/kubernetes "
        "staging/src/k8s.io/cloud-provider/controllers/nodelifecycle",
        says="An instance is shut down in the cloud, and started again; the "
        "cloud's node lifecycle controller taints its Node meanwhile. Who "
        "did it is in no record.",
        questions=[
            asked(
                "cs-1",
                "reboot",
                (5, 3, 11, 1, 10, 13, 2),
                planned=None,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[_back("Job/train/mae", 8, "cs-1")],
                must_not_say=["a person", "drain"],
                missing_evidence=["who shut the instance down"],
            )
        ],
    ),
)
