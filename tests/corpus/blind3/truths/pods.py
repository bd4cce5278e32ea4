"""Truths of incidents in which Pods go and their nodes stay."""

from typing import Any

from tests.corpus.blind.truth import Truth, asked, job

__all__ = ["PODS"]

EVICTED = ("EvictionByEvictionAPI, exit 143",)
DELETED = ("no DisruptionTarget, exit 143",)
BACK = ("rescheduled", "evicted", "restarted")


def _stays(node: str, *must_not_say: str, **more: Any) -> dict[str, Any]:
    """Return the question about a node that stays in service."""
    return asked(
        node,
        "none",
        planned=False,
        actor=None,
        must_not_say=["reboot", "node failure", *must_not_say],
        **more,
    )


PODS = (
    Truth(
        name="d10_stork_driver_offline",
        software="Stork: libopenstorage/stork pkg/monitor/monitor.go",
        says="The storage driver of a node is offline. Stork records it on "
        "the Pod that uses a volume of it, and deletes the Pod by force. "
        "The node stays, and so does what uses no volume.",
        questions=[
            _stays(
                "st-2",
                jobs=[
                    job(
                        "StatefulSet/db/kafka",
                        1,
                        *BACK,
                        lost_on=["st-2"],
                    )
                ],
                not_hit=["train/calm2"],
            )
        ],
    ),
    Truth(
        name="d11_robusta_drains",
        software="Robusta: robusta-dev/robusta "
        "playbooks/robusta_playbooks/node_actions.py",
        says="A playbook cordons a node and evicts its Pods; the node stays "
        "ready, and cordoned.",
        audit=True,
        questions=[
            _stays(
                "rb-2",
                jobs=[
                    job(
                        "Deployment/serve/embed",
                        4,
                        *BACK,
                        how=EVICTED,
                        lost_on=["rb-2"],
                    )
                ],
                not_hit=["train/far"],
            )
        ],
    ),
    Truth(
        name="d12_device_taint",
        software="device taint eviction: kubernetes/kubernetes "
        "pkg/controller/devicetainteviction/device_taint_eviction.go",
        says="A device is tainted NoExecute; the controller records it on the "
        "Pod that uses the device, marks the Pod and deletes it. The node "
        "stays.",
        questions=[
            _stays(
                "dt-2",
                "drain",
                jobs=[
                    job(
                        "Job/train/moco",
                        4,
                        *BACK,
                        how=("DeletionByDeviceTaintManager, exit 143",),
                        lost_on=["dt-2"],
                    )
                ],
                not_hit=["train/byol"],
            )
        ],
    ),
    Truth(
        name="d13_kyverno_cleans_up",
        software="Kyverno: kyverno/kyverno "
        "cmd/cleanup-controller/handlers/cleanup/handlers.go",
        says="A cleanup policy deletes a Pod of a Deployment; its ReplicaSet "
        "creates another one. The node stays.",
        audit=True,
        questions=[
            _stays(
                "kv-2",
                "drain",
                jobs=[
                    job(
                        "Deployment/serve/demo",
                        4,
                        *BACK,
                        how=DELETED,
                        lost_on=["kv-2"],
                    )
                ],
                not_hit=["train/kept"],
            )
        ],
    ),
    Truth(
        name="d14_spot_rescheduler",
        software="k8s-spot-rescheduler: pusher/k8s-spot-rescheduler "
        "scaler/scaler.go, rescheduler.go; its taint is that of the cluster "
        "autoscaler",
        says="The rescheduler taints an on-demand node as one to be deleted, "
        "evicts its Pod so that it moves to a spot node, and removes the "
        "taint. The node stays.",
        questions=[
            _stays(
                "sp-2",
                "scale-down",
                jobs=[
                    job(
                        "Deployment/serve/cheap",
                        4,
                        *BACK,
                        how=EVICTED,
                        lost_on=["sp-2"],
                    )
                ],
            )
        ],
    ),
    Truth(
        name="d15_force_delete_by_sven",
        software="Kubernetes: kubectl delete pod --force",
        says="sven deletes a Pod of a Job by force; the Job creates another "
        "one. The node stays.",
        audit=True,
        questions=[
            _stays(
                "fd-2",
                "drain",
                jobs=[
                    job(
                        "Job/train/retry",
                        16,
                        *BACK,
                        lost_on=["fd-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
)
