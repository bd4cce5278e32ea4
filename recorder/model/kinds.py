"""Kinds of the resources whose lists do not name them.

The API server leaves kind and apiVersion out of the items of a list, except
for custom resources; a tape may hold such a list and nothing else.
"""

BUILT_IN_KINDS = {
    "events": "Event",
    "events.k8s.io/events": "Event",
    "nodes": "Node",
    "pods": "Pod",
    "namespaces": "Namespace",
    "services": "Service",
    "configmaps": "ConfigMap",
    "secrets": "Secret",
    "serviceaccounts": "ServiceAccount",
    "persistentvolumes": "PersistentVolume",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "replicationcontrollers": "ReplicationController",
    "batch/jobs": "Job",
    "batch/cronjobs": "CronJob",
    "apps/deployments": "Deployment",
    "apps/replicasets": "ReplicaSet",
    "apps/statefulsets": "StatefulSet",
    "apps/daemonsets": "DaemonSet",
    "apps/controllerrevisions": "ControllerRevision",
    "coordination.k8s.io/leases": "Lease",
    "policy/poddisruptionbudgets": "PodDisruptionBudget",
    "scheduling.k8s.io/priorityclasses": "PriorityClass",
    "resource.k8s.io/resourceclaims": "ResourceClaim",
    "resource.k8s.io/resourceslices": "ResourceSlice",
    "resource.k8s.io/devicetaintrules": "DeviceTaintRule",
    "storage.k8s.io/volumeattachments": "VolumeAttachment",
    "apiextensions.k8s.io/customresourcedefinitions": (
        "CustomResourceDefinition"
    ),
}
"""By ``group/plural``, or the plural alone for the core group."""


def plural_of(kind: str) -> str:
    """Return the plural that Kubernetes guesses of a kind.

    A plural, which is in lower case as no kind is, is its own.
    """
    low = kind.lower()
    if kind == low:
        return low
    if low.endswith("s"):
        return f"{low}es"
    return f"{low[:-1]}ies" if low.endswith("y") else f"{low}s"
