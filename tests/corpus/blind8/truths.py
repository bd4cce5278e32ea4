"""What is true of each incident of the eighth set, before it was written."""

from collections.abc import Mapping
from typing import Any

from tests.corpus.blind.truth import ABRUPT, Truth, asked, job

__all__ = ["TRUTHS"]

SILENT = (3, 5, 12)
"""A machine that is not seen again: it died, or its network did."""

Asked = Mapping[str, Any]


def _back(title: str, gpus: int, node: str, gang: int = 1) -> dict[str, Any]:
    """Return a workload that lost Pods on a node, and runs again."""
    return job(
        title,
        gpus,
        "rescheduled",
        "evicted",
        "restarted",
        lost_on=[node],
        gang=gang,
    )


def _died(node: str, *jobs: Asked, **more: Any) -> Asked:
    return asked(
        node,
        "reboot",
        ABRUPT,
        planned=False,
        jobs=list(jobs),
        boots=(1, 2),
        stopped=more.pop("stopped", ("crash", "boot")),
        **more,
    )


def _silent(node: str, *jobs: Asked, **more: Any) -> Asked:
    return asked(
        node,
        "unreachable",
        SILENT,
        planned=False,
        jobs=list(jobs),
        stopped=("crash", None),
        **more,
    )


def _calm(node: str, *jobs: Asked, **more: Any) -> Asked:
    return asked(node, "none", planned=False, jobs=list(jobs), **more)


def _truth(
    name: str, software: str, says: str, *asks: Asked, **more: Any
) -> Truth:
    return Truth(
        name=name, software=software, says=says, questions=asks, **more
    )


INVENTED = "an operator that exists nowhere else"
GAP = "frames between two acts removed, then everything listed"

_ALL = (
    _truth(
        "k01_jobset_waits_for_a_boot",
        "JobSet: kubernetes-sigs/jobset",
        "A machine dies under one of two members. The taint manager deletes "
        "its Pod after 300 s; JobSet restarts all, and waits for the old Pod "
        "until the machine boots.",
        _died("n1", _back("JobSet/train/llm", 16, "n1", 2)),
        _calm("n2", may_list=["train/llm"]),
    ),
    _truth(
        "k02_one_group_of_two",
        "LeaderWorkerSet: kubernetes-sigs/lws",
        "A machine dies under the worker of one group; LeaderWorkerSet makes "
        "that group again. The other group goes on.",
        _died("n1", _back("LeaderWorkerSet/serve/moe", 16, "n1", 2)),
        _calm("n3", job("LeaderWorkerSet/serve/moe", 16, "survived", gang=2)),
    ),
    _truth(
        "k03_goes_on_with_less",
        "training-operator: kubeflow/training-operator, elasticPolicy",
        "A machine dies under one of three elastic workers and does not come "
        "back; the job goes on with two, and its minimum is one.",
        _silent(
            "n2",
            job("PyTorchJob/train/dlrm", 12, "survived", gang=3),
            may_list=["train/dlrm"],
        ),
        _calm("n1", job("PyTorchJob/train/dlrm", 12, "survived", gang=3)),
    ),
    _truth(
        "k04_ray_worker",
        "KubeRay: ray-project/kuberay",
        "A machine dies under a Ray worker, which the taint manager deletes "
        "after 300 s. It is gone when the machine boots; KubeRay makes "
        "another on another node.",
        _died("n1", _back("RayCluster/ml/sweep", 16, "n1", 3)),
    ),
    _truth(
        "k05_launcher_fails_first",
        "MPI operator: kubeflow/mpi-operator",
        "An MPIJob fails because its launcher exits on another node; its "
        "workers have to stop. Two seconds later the machine of one "
        "dies, under a Job.",
        _died("n2", _back("Job/train/b", 4, "n2"), not_hit=["hpc/gromacs"]),
        _calm("n1", not_hit=["hpc/gromacs"]),
    ),
    _truth(
        "k06_two_gangs_of_a_node",
        "Volcano: volcano-sh/volcano",
        "A machine dies under members of two Volcano Jobs; each is restarted "
        "as a whole by its policy. A third goes on.",
        _died(
            "n1",
            _back("Job/ml/resnet", 16, "n1", 2),
            _back("Job/ml/vit", 12, "n1", 3),
        ),
        _calm(
            "n3",
            job("Job/ml/alone", 4, "survived"),
            may_list=["ml/vit"],
        ),
    ),
    _truth(
        "k07_driver_is_drained",
        "Spark operator: kubeflow/spark-operator",
        "lea drains the node of a Spark driver. Its executors on other nodes "
        "are collected with it, and the operator submits it again.",
        _calm("n1", _back("SparkApplication/etl/nightly", 8, "n1", 3)),
        audit=True,
    ),
    _truth(
        "k08_step_is_evicted",
        "Argo Workflows: argoproj/argo-workflows",
        "The kubelet evicts a step of a Workflow for its disk; the step is "
        "retried on another node. A Job stays.",
        _calm(
            "n1",
            _back("Workflow/ml/eval-x7d", 4, "n1"),
            job("Job/train/b", 4, "survived"),
        ),
    ),
    _truth(
        "k09_operator_deletes_all",
        INVENTED,
        "A machine dies and stays off. An operator misses the heartbeat of "
        "its member after 15 s, before the node is called unreachable, "
        "force-deletes all members, and makes them elsewhere.",
        _silent("n1", _back("Choir/train/chorale", 24, "n1", 3)),
        _calm("n2", may_list=["train/chorale"]),
    ),
    _truth(
        "k10_anew_under_its_name",
        INVENTED,
        "pete deletes a gang and creates it again under the same name, with "
        "Pods of the same names, on another node. Half a minute later the "
        "first node dies, under a Job.",
        _died("n1", _back("Job/train/b", 4, "n1"), not_hit=["ml/weave"]),
        audit=True,
    ),
    _truth(
        "k11_deleted_by_force",
        "Kubernetes",
        "A machine dies and stays off. Its Pod of a StatefulSet is deleted "
        "by the taint manager, and remains; rosa deletes it by force, and "
        "it starts on another node.",
        _silent("n1", _back("StatefulSet/db/vec", 2, "n1")),
        audit=True,
    ),
    _truth(
        "k12_back_within_tolerance",
        "Kubernetes",
        "A node is cut off for two minutes. Its Pods are not ready in that "
        "time; their containers never stop.",
        asked(
            "n1",
            "unreachable",
            (12,),
            planned=False,
            jobs=[job("Deployment/web/chat", 4, "survived")],
            stopped=("cut", "back"),
        ),
    ),
    _truth(
        "k13_restarted_in_place",
        "Kubernetes",
        "A machine dies and boots within the tolerance; the container of a "
        "Job starts again in the same Pod. The init container of a DaemonSet "
        "fails there.",
        _died(
            "n1",
            _back("Job/train/a", 4, "n1"),
            not_hit=["ops/probe"],
        ),
    ),
    _truth(
        "k14_budget_refuses",
        "Kubernetes",
        "mia drains a node: a Job goes, the Pods of a Deployment are refused "
        "by its budget. She gives up and uncordons.",
        _calm(
            "n1",
            _back("Job/train/a", 4, "n1"),
            job("Deployment/web/chat", 4, "survived"),
        ),
        audit=True,
    ),
    _truth(
        "k15_device_is_tainted",
        "Kubernetes: device taints of dynamic resource allocation",
        "A driver taints a device; the device taint manager deletes the Pod "
        "that holds it. The Job of another device goes on.",
        _calm(
            "n1",
            _back("Job/train/a", 4, "n1"),
            job("Job/train/b", 4, "survived"),
        ),
    ),
    _truth(
        "k16_refused_after_a_boot",
        "Kubeflow Trainer: kubeflow/trainer, over JobSet",
        "A machine dies and boots within the tolerance; the kubelet refuses "
        "its old Pod, as no GPU is registered yet. JobSet restarts both "
        "members of the TrainJob.",
        _died("n1", _back("TrainJob/train/ft", 16, "n1", 2)),
    ),
    _truth(
        "k17_gap_hides_the_loss",
        "KubeRay: ray-project/kuberay; the recorder was disconnected",
        "A machine reboots, and its Ray worker is replaced, while nothing is "
        "recorded. The list after it shows the successor.",
        asked(
            "n1",
            "reboot",
            ABRUPT,
            planned=None,
            jobs=[_back("RayJob/ml/tune", 8, "n1", 3)],
            boots=(1, 2),
            stopped=("crash", "boot"),
        ),
        edited=GAP,
    ),
    _truth(
        "k18_gap_hides_an_eviction",
        "Kubernetes; the recorder was disconnected",
        "The kubelet evicts a Pod of a Deployment while nothing is recorded. "
        "The list after it shows the evicted Pod, failed, and its successor.",
        _calm(
            "n1",
            _back("Deployment/web/rank", 4, "n1"),
            job("Job/train/b", 4, "survived"),
        ),
        edited=GAP,
    ),
    _truth(
        "k19_preempted_by_a_jobset",
        "JobSet: kubernetes-sigs/jobset",
        "The scheduler preempts both members of a Job, on two nodes, for the "
        "Pods of a JobSet of a higher priority.",
        _calm(
            "n1",
            job(
                "Job/train/low", 16, "preempted", lost_on=["n1", "n2"], gang=2
            ),
        ),
        _calm(
            "n2",
            job(
                "Job/train/low", 16, "preempted", lost_on=["n1", "n2"], gang=2
            ),
        ),
    ),
    _truth(
        "k20_scaled_in_beside_a_cordon",
        INVENTED,
        "ben cordons a node. Seconds later an operator deletes its member "
        "there because its queue is short, as it says; two go on.",
        _calm("n1", job("Convoy/ml/queue", 12, "survived", gang=3)),
        audit=True,
    ),
    _truth(
        "k21_node_is_deleted",
        "training-operator: kubeflow/training-operator",
        "vera deletes a Node; Pod GC deletes its Pod, which the operator "
        "makes again on another node. The master exits, and restarts.",
        asked(
            "n1",
            "removed",
            (15,),
            planned=True,
            actor="vera",
            jobs=[_back("PyTorchJob/train/clip", 16, "n1", 2)],
        ),
        audit=True,
    ),
    _truth(
        "k22_init_container_fails",
        "Kubernetes",
        "A Job fails for good because its init container exits; the kubelet "
        "of its node is restarted at that time, and another Job goes on.",
        asked(
            "n1",
            "kubelet_restart",
            (9,),
            planned=False,
            jobs=[job("Job/train/b", 4, "survived")],
            not_hit=["train/a"],
        ),
    ),
    _truth(
        "k23_out_of_memory_elsewhere",
        "JobSet: kubernetes-sigs/jobset",
        "kai cordons a node. Seconds later a member of a JobSet on another "
        "exceeds its own memory limit, and JobSet restarts all its members.",
        _calm("n1", job("JobSet/train/moe", 16, "survived", gang=2)),
        _calm("n2", may_list=["train/moe"]),
        audit=True,
    ),
)

TRUTHS = {truth.name: truth for truth in _ALL}
"""Every truth, by the name of its incident."""
