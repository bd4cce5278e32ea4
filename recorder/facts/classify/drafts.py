"""Drafts from documents: identity, times, node, reason, actor."""

from datetime import datetime
from sys import intern

from recorder.facts.classify.objects import KubeObject
from recorder.facts.classify.text import clean
from recorder.facts.classify.times import first_moment
from recorder.facts.classify.wire import (
    FullEvent,
    FullNode,
    FullObject,
    FullPod,
    Metadata,
    Regarding,
    Reporter,
    Series,
    Spec,
    WireEvent,
    WireObject,
)
from recorder.model.entry import Draft, Operation
from recorder.model.reference import ObjectIdentity

LEASE_NAMESPACE = "kube-node-lease"
"""Where kubelets renew a Lease named after their Node."""

NODE_REPORTERS = frozenset({"kubelet", "kube-proxy"})
"""Reporters that run on the node that they name as their host. Others name the
machine of a control plane, or their own Pod."""

AnyEvent = FullEvent | WireEvent

_NO_METADATA = Metadata()
_NO_REPORTER = Reporter()
_NO_SERIES = Series()
_NO_SPEC = Spec()
_NOTHING = Regarding()


def draft(
    document: KubeObject,
    *,
    kind: str | None,
    operation: Operation,
    observed_at: datetime,
    source: str,
) -> Draft:
    """Return the draft of a decoded document.

    The kind is for documents without one, the items of a list; without it the
    plural of the resource is used as the kind.
    """
    head, wire, resource = document.head, document.wire, document.resource
    if isinstance(wire, FullEvent | WireEvent):
        identity = _regarding(wire)
        reporter = wire.source or wire.deprecated_source or _NO_REPORTER
        actor = (
            wire.reporting_component
            or wire.reporting_controller
            or reporter.component
        )
        return Draft(
            source=source,
            operation=operation,
            observed_at=observed_at,
            raw=document.raw,
            resource=str(resource),
            identity=identity,
            resource_version=head.resource_version,
            node=_node_of_event(wire, identity, actor),
            occurred_at=_occurred_at(wire),
            reason=clean(wire.reason),
            actor=clean(actor),
        )
    return Draft(
        source=source,
        operation=operation,
        observed_at=observed_at,
        raw=document.raw,
        resource=str(resource),
        identity=_identity(document, kind),
        resource_version=head.resource_version,
        node=_node_of_object(document, wire),
    )


def _identity(document: KubeObject, kind: str | None) -> ObjectIdentity | None:
    head, resource = document.head, document.resource
    if head.name is None and head.uid is None:
        return None
    return ObjectIdentity(
        resource.group,
        head.kind or kind or resource.plural,
        # Identities are kept for every live object; few namespaces hold them.
        intern(head.namespace or ""),
        head.name or "",
        head.uid,
    )


def _regarding(wire: AnyEvent) -> ObjectIdentity | None:
    regarding = wire.involved_object or wire.regarding or _NOTHING
    name, uid = clean(regarding.name), clean(regarding.uid)
    if name is None and uid is None:
        return None
    group, stroke, _ = (regarding.api_version or "").partition("/")
    kind = clean(regarding.kind) or ""
    namespace = clean(regarding.namespace) or ""
    if kind == "Node":
        # Some reporters fill these fields of a Node: the name as its UID, the
        # namespace of the Event as that of the Node.
        namespace = ""
        uid = None if uid == name else uid
    return ObjectIdentity(
        (clean(group) or "") if stroke else "",
        kind,
        namespace,
        name or "",
        uid,
    )


def _node_of_event(
    wire: AnyEvent, identity: ObjectIdentity | None, actor: str | None
) -> str | None:
    if identity is not None and identity.kind == "Node" and identity.name:
        return identity.name
    reporter = wire.source or wire.deprecated_source or _NO_REPORTER
    if NODE_REPORTERS.isdisjoint((actor, reporter.component)):
        return None
    return clean(reporter.host or wire.reporting_instance)


def _node_of_object(
    document: KubeObject, wire: FullNode | FullPod | FullObject | WireObject
) -> str | None:
    head, resource = document.head, document.resource
    if resource.plural == "nodes" and not resource.group:
        return head.name
    if isinstance(wire, FullObject | WireObject):
        spec = wire.spec or _NO_SPEC
        if resource.plural == "leases" and head.namespace == LEASE_NAMESPACE:
            return head.name or clean(spec.holder_identity)
        return clean(spec.node_name)
    if isinstance(wire, FullPod) and wire.spec is not None:
        return clean(wire.spec.node_name)
    return None


def _occurred_at(wire: AnyEvent) -> datetime | None:
    return first_moment(
        (wire.series or _NO_SERIES).last_observed_time,
        wire.last_timestamp,
        wire.deprecated_last_timestamp,
        wire.event_time,
        wire.first_timestamp,
        wire.deprecated_first_timestamp,
        (wire.metadata or _NO_METADATA).creation_timestamp,
    )
