"""Whether a cluster can be recorded: reach, rights, the life of Events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from recorder.report.checks.check import Check

__all__ = [
    "EventLives",
    "MissingRight",
    "judge_event_ttl",
    "judge_rights",
    "judge_unreached",
]

REMEDIES = {
    "config.kubeconfig": "name the cluster with KUBECONFIG or"
    " RECORDER_KUBECONFIG and RECORDER_CONTEXT; see that"
    " `kubectl get nodes` works",
    "cluster.unauthorized": "renew the credentials: see that"
    " `kubectl get nodes` works, or make a token anew with:"
    " kubectl -n recorder create token recorder",
    "cluster.forbidden": "kubectl apply -f deploy/rbac.yaml, and see that the"
    " credentials are those of the service account recorder there",
    "cluster.certificate": "see that the kubeconfig names the authority of"
    " the server (certificate-authority) and the server as its certificate"
    " does (tls-server-name)",
    "cluster.throttled": "the server is overloaded: try again later, and"
    " look at its priority and fairness",
    "cluster.server": "the server is in trouble: kubectl get --raw"
    " '/readyz?verbose' says with what",
    "cluster.bad_answer": "see that the kubeconfig names an API server, and"
    " no proxy that answers in its place",
}
"""By the code of the error."""

UNREACHABLE = (
    "see that the address is right and that no firewall or proxy stands"
    " between: kubectl cluster-info"
)

SAMPLE_MIN = 20
"""Fewer deletes of Events may all be a namespace's that was removed."""

LATE_MAX = timedelta(minutes=3)
"""An API server shares leases of etcd for up to a minute, etcd takes its
time to revoke them, and the delete must reach us."""

SHARE_MAX = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingRight:
    """One rule that is not granted, or not in full."""

    group: str
    """The API group; empty for the core group."""

    resources: Sequence[str]
    """All that the rule grants, as it is written in the manifest."""

    namespace: str | None
    """Where it is granted; None is the whole cluster."""

    shipped: bool
    """Whether the rule is one of deploy/rbac.yaml."""

    refused: Sequence[tuple[str, str]]
    """Verb and resource of what was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLives:
    """How long Events lived that the log saw being deleted."""

    sample: int
    typical: timedelta | None
    """The third quartile: what is deleted by hand lives shorter, and what
    was shown late seems to."""


def judge_unreached(name: str, code: str, says: str) -> Check:
    """Say what to do about a cluster that did not answer as it should."""
    remedy = REMEDIES.get(code, UNREACHABLE)
    return Check(name=name, ok=False, says=says, remedy=remedy)


def judge_rights(
    name: str,
    *,
    tried: int,
    missing: Sequence[MissingRight],
    failed: Sequence[str],
) -> Sequence[Check]:
    """Return one check for each rule that is missing, or one that all is well.

    Args:
        name: of the checks.
        tried: how many resources would be recorded.
        missing: rules that are not granted.
        failed: requests that ended otherwise than by a refusal, in words.
    """
    checks = [_judge_rule(name, right) for right in missing]
    checks.extend(
        Check(
            name=name,
            ok=False,
            says=words,
            remedy="the resource itself is in trouble, its extension server"
            " for example: kubectl get apiservices; or leave it out with"
            " RECORDER_EXCLUDE",
        )
        for words in failed
    )
    if not checks:
        says = f"{tried} resources can be listed, watched and got"
        checks.append(Check(name=name, ok=True, says=says))
    return checks


def _judge_rule(name: str, right: MissingRight) -> Check:
    by_resource: dict[str, list[str]] = {}
    for verb, resource in right.refused:
        by_resource.setdefault(resource, []).append(verb)
    refused = "; ".join(
        f"{', '.join(verbs)} {resource}"
        for resource, verbs in by_resource.items()
    )
    rule = (
        f'{{apiGroups: ["{right.group}"],'
        f" resources: [{', '.join(map(_quoted, right.resources))}],"
        " verbs: [get, list, watch]}"
    )
    where = 'ClusterRole "recorder"'
    if right.namespace is not None:
        where = f'Role "recorder" in namespace "{right.namespace}"'
    if right.shipped:
        remedy = (
            "run: kubectl apply -f deploy/rbac.yaml, whose"
            f" {where} has the rule {rule}"
        )
    else:
        remedy = (
            f"add the rule {rule} to the {where} of deploy/rbac.yaml and"
            " apply it, or leave the resource out with RECORDER_EXCLUDE"
        )
    return Check(
        name=name, ok=False, says=f"forbidden: {refused}", remedy=remedy
    )


def _quoted(resource: str) -> str:
    return '"*"' if resource == "*" else resource


def judge_event_ttl(
    name: str, setting: timedelta, lives: EventLives | None
) -> Check:
    """Compare the setting with how long Events really live."""
    if lives is None or lives.typical is None or lives.sample < SAMPLE_MIN:
        return Check(
            name=name,
            ok=True,
            says=f"taken to be {_said(setting)}; the API server does not tell"
            " its --event-ttl, and the log has not seen enough Events expire",
        )
    tolerated = max(setting * SHARE_MAX, LATE_MAX)
    return Check(
        name=name,
        ok=abs(lives.typical - setting) <= tolerated,
        says=f"Events live for {_said(lives.typical)}, by {lives.sample} that"
        f" expired, and the setting says {_said(setting)}",
        remedy="set RECORDER_EVENT_TTL to the --event-ttl of the API server:"
        " by it is judged whether an Event expired or was missed",
    )


def _said(length: timedelta) -> str:
    minutes = length.total_seconds() / 60
    return f"{minutes / 60:g} h" if minutes % 60 == 0 else f"{minutes:.0f} min"
