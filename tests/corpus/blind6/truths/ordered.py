"""What is true where a person or a program had a machine taken down."""

from collections.abc import Sequence
from typing import Any

from tests.corpus.blind.truth import REBOOT_ORDERED, Truth, asked, job

__all__ = ["ORDERED"]

NODE_TAKEN_AWAY = (15, 11, 13, 14, 10, 1)
"""A program that empties a node for good says no more than that."""


def _moved(title: str, gpus: int, node: str) -> dict[str, Any]:
    return job(title, gpus, "rescheduled", "evicted", lost_on=[node])


def _rebooted(
    node: str, actor: str, jobs: Sequence[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    return asked(
        node,
        "reboot",
        REBOOT_ORDERED,
        planned=True,
        actor=actor,
        boots=(1, 2),
        jobs=jobs,
        **({"stopped": ("off", "boot")} | more),
    )


ORDERED = (
    Truth(
        name="g01_rebuy_node_drainer",
        software="node-drainer of reBuy: rebuy-de/node-drainer "
        "pkg/drainer/drainer.go",
        says="A lifecycle hook calls node-drainer, which taints a node and "
        "evicts its Pods, without cordoning it; the instance ends, and the "
        "cloud's node lifecycle controller deletes the Node.",
        questions=[
            asked(
                "rd-1",
                "removed",
                NODE_TAKEN_AWAY,
                planned=True,
                actor="node-drainer",
                jobs=[_moved("Job/train/resnet", 8, "rd-1")],
                must_not_say=["a person", "crash"],
            )
        ],
    ),
    Truth(
        name="g02_lifecycle_manager",
        software="lifecycle-manager: keikoproj/lifecycle-manager "
        "pkg/service/nodes.go",
        says="lifecycle-manager annotates a node by kubectl, as its service "
        "account, cordons it and evicts its Pods; the instance ends, and the "
        "cloud's node lifecycle controller deletes the Node.",
        audit=True,
        questions=[
            asked(
                "lm-1",
                "removed",
                NODE_TAKEN_AWAY,
                planned=True,
                actor="lifecycle-manager",
                jobs=[
                    _moved("Job/train/unet", 6, "lm-1"),
                    job(
                        "Deployment/serve/embed",
                        1,
                        "rescheduled",
                        "evicted",
                        lost_on=["lm-1"],
                    ),
                ],
                must_not_say=["a person", "crash"],
            ),
            asked(
                "lm-2",
                "none",
                planned=False,
                may_list=["train/unet", "serve/embed"],
            ),
        ],
    ),
    Truth(
        name="g03_ansible_tom",
        software="Ansible: ansible-collections/kubernetes.core "
        "plugins/modules/k8s_drain.py; ansible.builtin.reboot",
        says="A playbook that tom runs drains a node with k8s_drain, reboots "
        "the machine, and uncordons the node.",
        audit=True,
        questions=[
            _rebooted(
                "an-1",
                "tom",
                [_moved("Job/train/deit", 8, "an-1")],
                must_not_say=["a program decided", "crash"],
            )
        ],
    ),
    Truth(
        name="g04_k9s_rosa",
        software="k9s: derailed/k9s internal/dao/node.go",
        says="rosa drains two nodes in k9s, one after the other; each is "
        "power-cycled, and she uncordons it.",
        audit=True,
        questions=[
            _rebooted(
                "k9-1",
                "rosa",
                [_moved("Job/train/vit", 4, "k9-1")],
                stopped=("off 1", "boot 1"),
                not_hit=["train/swin"],
                must_not_say=["crash"],
            ),
            _rebooted(
                "k9-2",
                "rosa",
                [_moved("Job/train/swin", 4, "k9-2")],
                stopped=("off 2", "boot 2"),
                not_hit=["train/vit"],
                must_not_say=["crash"],
            ),
        ],
    ),
    Truth(
        name="g05_node_restart_plugin",
        software="kubectl node-restart: MnrGreg/kubectl-node-restart "
        "node-restart.sh",
        says="Someone restarts two nodes with a plugin of kubectl: it drains "
        "a node, creates a Pod there that reboots the machine, waits and "
        "uncordons, then does the next. No audit: no record has the person.",
        questions=[
            _rebooted(
                "pl-1",
                "unknown",
                [_moved("Job/train/mlm", 4, "pl-1")],
                stopped=("off 1", "boot 1"),
                may_list=["kube-system/node-restart-pl-1"],
                must_not_say=["crash"],
            ),
            _rebooted(
                "pl-2",
                "unknown",
                [_moved("Job/train/nsp", 4, "pl-2")],
                stopped=("off 2", "boot 2"),
                may_list=["kube-system/node-restart-pl-2"],
                must_not_say=["crash"],
            ),
        ],
    ),
    Truth(
        name="g06_clusterman",
        software="Clusterman: Yelp/clusterman "
        "clusterman/kubernetes/kubernetes_cluster_connector.py, "
        "clusterman/draining",
        says="Clusterman scales a pool down: it cordons a node and evicts "
        "its Pods, the instance is terminated, and the cloud's node "
        "lifecycle controller deletes the Node. No audit: the field manager "
        "is that of any client in Python.",
        questions=[
            asked(
                "cm-1",
                "removed",
                NODE_TAKEN_AWAY,
                planned=True,
                jobs=[_moved("Job/train/albert", 8, "cm-1")],
                must_not_say=["a person", "crash"],
            )
        ],
    ),
    Truth(
        name="g07_dashboard_admin_user",
        software="Kubernetes Dashboard: kubernetes/dashboard "
        "modules/api/pkg/resource/node (drain)",
        says="Someone drains a node in the dashboard with the token of its "
        "account admin-user, the machine is power-cycled, and the node is "
        "uncordoned the same way. Which person it was is in no record.",
        audit=True,
        questions=[
            _rebooted(
                "db-1",
                "admin-user",
                [_moved("Job/train/fcn", 8, "db-1")],
                must_not_say=["crash"],
                missing_evidence=["who had the token"],
            )
        ],
    ),
    Truth(
        name="g08_clock_ahead_ivo",
        software="Kubernetes: kubectl drain; a machine whose clock is two "
        "hours ahead",
        says="ivo drains a node whose clock is two hours ahead, the machine "
        "is power-cycled, and he uncordons it.",
        audit=True,
        edited="the times of what ca-1 says are two hours later",
        questions=[
            _rebooted(
                "ca-1",
                "ivo",
                [_moved("Job/train/pose", 8, "ca-1")],
                must_not_say=["crash"],
            )
        ],
    ),
)
