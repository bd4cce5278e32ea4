"""Members: how many Pods an object of a kind needs to run in full.

Each kind states it in a part of its own spec; of what may grow and shrink, the
least counts. Data, a row a kind; another kind states nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from recorder.facts.classify.shapes import AnySpec, Shape
from recorder.model.reference import Resource


class _Role(Shape):
    """Members of one role, as far as their number is concerned."""

    replicas: int | None = None
    min_replicas: int | None = None
    num_of_hosts: int | None = None


class _Cluster(Shape):
    """The cluster of a RayJob."""

    worker_group_specs: list[_Role] | None = None
    enable_in_tree_autoscaling: bool | None = None


_read_roles = msgspec.json.Decoder(dict[str, _Role] | None).decode
_read_list = msgspec.json.Decoder(list[_Role] | None).decode
_read_elastic = msgspec.json.Decoder(_Role | None).decode
_read_cluster = msgspec.json.Decoder(_Cluster | None).decode


def _sum(roles: Iterable[_Role]) -> int:
    return sum(1 if r.replicas is None else r.replicas for r in roles)


def _by_role(written: msgspec.Raw, spec: AnySpec) -> int | None:
    """Return the sum over roles; of elastic workers the least."""
    roles = _read_roles(bytes(written) or b"null") or {}
    elastic = _read_elastic(bytes(spec.elastic_policy) or b"null") or _Role()
    if elastic.min_replicas is not None:
        others = _sum(r for name, r in roles.items() if name != "Worker")
        return others + elastic.min_replicas
    return _sum(roles.values()) if roles else None


def _of_ray(groups: Iterable[_Role], *, elastic: bool) -> int:
    """Return the head, and the hosts of each replica of each group."""
    found: int = 1
    for group in groups:
        wanted = 1 if group.replicas is None else group.replicas
        if elastic:
            wanted = group.min_replicas or 0
        found += wanted * (group.num_of_hosts or 1)
    return found


def _of_ray_cluster(spec: AnySpec) -> int | None:
    groups = _read_list(bytes(spec.worker_group_specs) or b"null")
    elastic = spec.enable_in_tree_autoscaling is True
    return None if groups is None else _of_ray(groups, elastic=elastic)


def _of_ray_job(spec: AnySpec) -> int | None:
    cluster = _read_cluster(bytes(spec.ray_cluster_spec) or b"null")
    if cluster is None:
        return None
    elastic = cluster.enable_in_tree_autoscaling is True
    return _of_ray(cluster.worker_group_specs or (), elastic=elastic)


def _of_volcano(spec: AnySpec) -> int | None:
    tasks = _read_list(bytes(spec.tasks) or b"null")
    if isinstance(spec.min_available, int):
        return spec.min_available
    return None if tasks is None else _sum(tasks)


def _of_pod_group(spec: AnySpec) -> int | None:
    return spec.min_member if isinstance(spec.min_member, int) else None


ROWS: Final[Mapping[tuple[str, str], Callable[[AnySpec], int | None]]] = {
    ("kubeflow.org", "pytorchjobs"): lambda spec: _by_role(
        spec.pytorch_replica_specs, spec
    ),
    ("kubeflow.org", "tfjobs"): lambda spec: _by_role(
        spec.tf_replica_specs, spec
    ),
    ("kubeflow.org", "mpijobs"): lambda spec: _by_role(
        spec.mpi_replica_specs, spec
    ),
    ("kubeflow.org", "xgboostjobs"): lambda spec: _by_role(
        spec.xgb_replica_specs, spec
    ),
    ("kubeflow.org", "paddlejobs"): lambda spec: _by_role(
        spec.paddle_replica_specs, spec
    ),
    ("kubeflow.org", "jaxjobs"): lambda spec: _by_role(
        spec.jax_replica_specs, spec
    ),
    ("ray.io", "rayclusters"): _of_ray_cluster,
    ("ray.io", "rayjobs"): _of_ray_job,
    ("batch.volcano.sh", "jobs"): _of_volcano,
    ("scheduling.volcano.sh", "podgroups"): _of_pod_group,
    ("scheduling.x-k8s.io", "podgroups"): _of_pod_group,
}


def members_of(spec: AnySpec, resource: Resource) -> int | None:
    """Return how many members an object needs; None if it states nothing."""
    row = ROWS.get((resource.group, resource.plural))
    try:
        return None if row is None else row(spec)
    except (ValueError, RecursionError):
        return None  # it has another form
