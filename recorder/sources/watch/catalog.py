"""The resources that are recorded unless the configuration says otherwise.

Data only. A group maps to the plurals to record, or to `EVERY` where the whole
group is about nodes, their repair, or the work that runs on them. Where a
group also holds unrelated things, such as templates that contain secrets, its
plurals are listed one by one. ``deploy/rbac.yaml`` grants exactly this list.
"""

from collections.abc import Mapping

EVERY = "*"

BUILT_IN: Mapping[str, tuple[str, ...]] = {
    # What happens, and to what. Nodes first: they are asked for most.
    "": ("nodes", "events", "pods", "namespaces"),
    "apiextensions.k8s.io": ("customresourcedefinitions",),
    "batch": ("jobs", "cronjobs"),
    "apps": ("deployments", "replicasets", "statefulsets", "daemonsets"),
    "policy": ("poddisruptionbudgets",),
    # The last sign of life of a node that goes silent.
    "coordination.k8s.io": ("leases",),
    # How far a kubelet came that joins: the certificate that it asked for.
    "certificates.k8s.io": ("certificatesigningrequests",),
    # Which switch a device of a node leads to.
    "resource.k8s.io": ("resourceslices",),
    # Remediation and maintenance of nodes: medik8s.
    "remediation.medik8s.io": (EVERY,),
    "self-node-remediation.medik8s.io": (EVERY,),
    "fence-agents-remediation.medik8s.io": (EVERY,),
    "machine-deletion-remediation.medik8s.io": (EVERY,),
    "nodemaintenance.medik8s.io": (EVERY,),
    # OpenShift; its MachineConfigs hold files and are left out.
    "machineconfiguration.openshift.io": (
        "machineconfigpools",
        "machineconfignodes",
    ),
    "machine.openshift.io": (
        "machines",
        "machinesets",
        "machinehealthchecks",
    ),
    # Cluster API; its bootstrap data live in other groups.
    "cluster.x-k8s.io": (
        "clusters",
        "machines",
        "machinesets",
        "machinedeployments",
        "machinepools",
        "machinehealthchecks",
    ),
    # The machines of Metal3; their HardwareData and FirmwareSettings are
    # inventories and are left out.
    "metal3.io": ("baremetalhosts",),
    # Node provisioning.
    "karpenter.sh": ("nodeclaims", "nodepools"),
    "compute.coreweave.com": ("nodepools",),
    # NVIDIA: drivers, host maintenance, fault remediation.
    "nvidia.com": ("clusterpolicies", "nvidiadrivers"),
    "maintenance.nvidia.com": (EVERY,),
    "skyhook.nvidia.com": (EVERY,),
    "janitor.dgxc.nvidia.com": (EVERY,),
    "nvsentinel.nvidia.com": (EVERY,),
    # DPUs of DPF and of OpenShift; a DPUCluster names a kubeconfig and is left
    # out.
    "provisioning.dpu.nvidia.com": (
        "dpus",
        "dpunodes",
        "dpunodemaintenances",
        "dpusets",
    ),
    "config.openshift.io": ("dataprocessingunits",),
    # Slurm on Kubernetes; access objects of these groups are left out.
    "sunk.coreweave.com": ("nodesets", "slurmclusters"),
    "slinky.slurm.net": ("controllers", "nodesets", "loginsets"),
    "slurm.nebius.ai": ("slurmclusters", "nodesets", "activechecks"),
    # Workloads that own the pods of a gang.
    "jobset.x-k8s.io": ("jobsets",),
    "leaderworkerset.x-k8s.io": ("leaderworkersets",),
    "trainer.kubeflow.org": ("trainjobs",),
    "kubeflow.org": (
        "pytorchjobs",
        "mpijobs",
        "tfjobs",
        "jaxjobs",
        "xgboostjobs",
        "paddlejobs",
    ),
    "ray.io": ("rayclusters", "rayjobs", "rayservices"),
    "batch.volcano.sh": ("jobs",),
    "bus.volcano.sh": ("commands",),
    "scheduling.volcano.sh": ("podgroups", "queues"),
    "scheduling.x-k8s.io": ("podgroups",),
    "kueue.x-k8s.io": (
        "workloads",
        "clusterqueues",
        "localqueues",
        "cohorts",
        "admissionchecks",
        "resourceflavors",
        "topologies",
        "workloadpriorityclasses",
    ),
}

NAMESPACE_ONLY: Mapping[tuple[str, str], str] = {
    # Leases elsewhere elect leaders, several times a second.
    ("coordination.k8s.io", "leases"): "kube-node-lease",
}
"""Resources that are watched in one namespace instead of the whole cluster."""

NEVER: frozenset[tuple[str, str]] = frozenset(
    {
        ("", "secrets"),
        ("", "configmaps"),
        # The same objects as the core group's events.
        ("events.k8s.io", "events"),
    }
)
"""Resources that no pattern selects; the first two can be selected by name."""
