"""Kinds as people name them: ``po``, ``pods``, ``Pod``, ``jobs.batch``.

Built-in kinds are listed here with the names that kubectl accepts. Kinds of
custom resources come from their definitions in the log. Any other kind is
found by its name or its regular plural, so that a tape without definitions
can be queried too.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from recorder.answers.nouns import CustomKind
from recorder.model.kinds import plural_of

_BUILT_IN = """
v1 Pod pods po
v1 Node nodes no cluster
v1 Namespace namespaces ns cluster
v1 Service services svc
v1 Endpoints endpoints ep
v1 ConfigMap configmaps cm
v1 Secret secrets
v1 ServiceAccount serviceaccounts sa
v1 PersistentVolume persistentvolumes pv cluster
v1 PersistentVolumeClaim persistentvolumeclaims pvc
v1 ReplicationController replicationcontrollers rc
v1 ResourceQuota resourcequotas quota
v1 LimitRange limitranges limits
v1 PodTemplate podtemplates
apps/v1 Deployment deployments deploy
apps/v1 ReplicaSet replicasets rs
apps/v1 StatefulSet statefulsets sts
apps/v1 DaemonSet daemonsets ds
apps/v1 ControllerRevision controllerrevisions
batch/v1 Job jobs
batch/v1 CronJob cronjobs cj
policy/v1 PodDisruptionBudget poddisruptionbudgets pdb
autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers hpa
coordination.k8s.io/v1 Lease leases
networking.k8s.io/v1 Ingress ingresses ing
networking.k8s.io/v1 IngressClass ingressclasses cluster
networking.k8s.io/v1 NetworkPolicy networkpolicies netpol
discovery.k8s.io/v1 EndpointSlice endpointslices
storage.k8s.io/v1 StorageClass storageclasses sc cluster
storage.k8s.io/v1 VolumeAttachment volumeattachments cluster
storage.k8s.io/v1 CSINode csinodes cluster
storage.k8s.io/v1 CSIDriver csidrivers cluster
scheduling.k8s.io/v1 PriorityClass priorityclasses pc cluster
node.k8s.io/v1 RuntimeClass runtimeclasses cluster
rbac.authorization.k8s.io/v1 Role roles
rbac.authorization.k8s.io/v1 RoleBinding rolebindings
rbac.authorization.k8s.io/v1 ClusterRole clusterroles cluster
rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings cluster
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration\
 mutatingwebhookconfigurations cluster
admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration\
 validatingwebhookconfigurations cluster
apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions\
 crd crds cluster
apiregistration.k8s.io/v1 APIService apiservices cluster
certificates.k8s.io/v1 CertificateSigningRequest certificatesigningrequests\
 csr cluster
resource.k8s.io/v1 ResourceClaim resourceclaims
resource.k8s.io/v1 ResourceSlice resourceslices cluster
resource.k8s.io/v1 DeviceClass deviceclasses cluster
slurm.schedmd.com/v1 SlurmJob slurmjobs slurm
"""
"""Version, kind, plural, short names, and ``cluster`` if the objects have no
namespace."""


VERSION = re.compile(r"^v\d+((alpha|beta)\d+)?\.")
"""kubectl accepts ``jobs.v1.batch`` too; the version is ignored here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind and its names."""

    group: str
    kind: str
    plural: str
    names: frozenset[str]
    """In lower case, without the group."""

    namespaced: bool | None
    """None if unknown."""

    @property
    def filed(self) -> tuple[tuple[str, str], ...]:
        """Its names in the log: the plural is used if the kind is unknown."""
        return ((self.group, self.kind), (self.group, self.plural))

    def __str__(self) -> str:
        """Return its unique name: plural and group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def is_called(self, word: str) -> bool:
        """Return whether a word names it, with or without the group."""
        name, dot, group = word.partition(".")
        if dot and VERSION.sub("", f"{group}.") != f"{self.group}.".lstrip(
            "."
        ):
            return False
        return name in self.names


def _parse(line: str) -> tuple[Kind, str]:
    api_version, kind, plural, *rest = line.split()
    group = api_version.rpartition("/")[0]
    shorts = [word for word in rest if word != "cluster"]
    return Kind(
        group=group,
        kind=kind,
        plural=plural,
        names=frozenset({kind.lower(), plural, *shorts}),
        namespaced="cluster" not in rest,
    ), api_version


_PARSED = [_parse(line) for line in _BUILT_IN.strip().splitlines()]
BUILT_IN: Sequence[Kind] = tuple(kind for kind, _ in _PARSED)
_VERSIONS = {(kind.group, kind.kind): version for kind, version in _PARSED}


def built_in_version(group: str, kind: str) -> str | None:
    """Return the ``apiVersion`` of a kind that every cluster has."""
    return _VERSIONS.get((group, kind))


def find_kinds(
    word: str,
    *,
    custom: Iterable[CustomKind],
    filed: Collection[tuple[str, str]],
) -> Sequence[Kind]:
    """Return the kinds that a word names, those of every group.

    The built-in one is first; `jobs.batch.volcano.sh` is that of one group.

    Args:
        word: the name, in any case.
        custom: kinds defined by CustomResourceDefinitions.
        filed: group and kind of all objects in the log.
    """
    word = word.lower()
    found: dict[tuple[str, str], Kind] = {}
    # A kind sorts before its plural, which audit records may have instead.
    guesses = [_guess(group, kind) for group, kind in sorted(filed)]
    for known in (BUILT_IN, [_custom(kind) for kind in custom], guesses):
        for kind in known:
            if kind.is_called(word):
                found.setdefault((kind.group, kind.plural), kind)
    return list(found.values())


def kind_of(group: str, kind: str) -> Kind:
    """Return the kind that objects are filed under."""
    name = (group, plural_of(kind))
    own = (one for one in BUILT_IN if (one.group, one.plural) == name)
    return next(own, None) or _guess(group, kind)


def word_for(group: str, kind: str) -> str:
    """Return the word that names a kind.

    With its group if a built-in kind has the same name.
    """
    word = kind.lower()
    others = [one for one in BUILT_IN if one.is_called(word)]
    if not others or any(one.group == group for one in others):
        return word
    return f"{word}.{group}"


def _custom(custom: CustomKind) -> Kind:
    names = {custom.kind.lower(), custom.plural, custom.singular}
    return Kind(
        group=custom.group,
        kind=custom.kind,
        plural=custom.plural,
        names=frozenset(names | set(custom.short_names)),
        namespaced=custom.namespaced,
    )


def _guess(group: str, kind: str) -> Kind:
    low, plural = kind.lower(), plural_of(kind)
    names = {low, plural}
    if kind == plural:
        names.add(low.removesuffix("s"))
    return Kind(
        group=group,
        kind=kind,
        plural=plural,
        names=frozenset(names),
        namespaced=None,
    )
