"""The cluster: whether it can be reached, our permissions, and its clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Protocol

from recorder.doctor.check import Check, untried, within
from recorder.doctor.clock import ClockReading, judge_clock
from recorder.model.errors import RecorderError

CLUSTER, CLOCK, RIGHTS = "cluster", "cluster clock", "cluster rights"

REACH = timedelta(seconds=20)
TRY_RIGHTS = timedelta(seconds=120)
"""Some hundred resources take ten seconds; a slow server takes longer."""

WHOLE_SECONDS = timedelta(seconds=1)
"""The Date header of HTTP has whole seconds."""

FORBIDDEN = "cluster.forbidden"
"""The code of the error of a server that does respond."""

REMEDIES = {
    "config.kubeconfig": "name the cluster with KUBECONFIG or"
    " RECORDER_KUBECONFIG and RECORDER_CONTEXT; check that"
    " `kubectl get nodes` works",
    "cluster.unauthorized": "renew the credentials: check that"
    " `kubectl get nodes` works, or create a new token with:"
    " kubectl -n recorder create token recorder",
    "cluster.forbidden": "kubectl apply -f deploy/rbac.yaml, and check that"
    " the credentials belong to its service account recorder",
    "cluster.certificate": "check certificate-authority and tls-server-name"
    " in the kubeconfig",
    "cluster.throttled": "the server is overloaded: retry later, and check"
    " its API priority and fairness settings",
    "cluster.server": "the server is failing: kubectl get --raw"
    " '/readyz?verbose' shows the reason",
    "cluster.bad_answer": "check that the kubeconfig points to an API server,"
    " not to a proxy",
}
"""By the code of the error."""

UNREACHABLE = (
    "check the address, and that no firewall or proxy is in the way:"
    " kubectl cluster-info"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingRight:
    """One RBAC rule that is not granted, or not in full."""

    group: str
    """The API group; empty for the core group."""

    resources: Sequence[str]
    """All that the rule grants, as it is written in the manifest."""

    namespace: str | None
    """Where it is granted; None for the whole cluster."""

    shipped: bool
    """Whether the rule is one of deploy/rbac.yaml."""

    refused: Sequence[tuple[str, str]]
    """Verb and resource of the rejected requests."""


@dataclass(frozen=True, slots=True)
class Rights:
    """The tried permissions, and the results."""

    tried: int
    """Resources that would be recorded."""

    missing: Sequence[MissingRight]
    """What was rejected, by the rule that would grant it."""

    failed: Sequence[str]
    """Requests that failed for other reasons, one line each."""


class Identity(Protocol):
    """The identity of the cluster that responds."""

    @property
    def name(self) -> str:
        """The operator's name for it."""

    @property
    def uid(self) -> str:
        """The UID of its kube-system namespace."""

    @property
    def server_version(self) -> str:
        """The version that its API server reports."""


class ClusterProbe(Protocol):
    """A cluster, with the queries that are judged here."""

    async def identity(self) -> Identity:
        """Return the identity of the cluster that responds."""

    async def date(self) -> str | None:
        """Return the API server's time, as HTTP writes it."""

    async def rights(self) -> Rights:
        """Try each permission that recording needs."""

    async def close(self) -> None:
        """Close the connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFindings:
    """What was found."""

    checks: Sequence[Check]
    uid: str | None = None
    """Of the cluster, if it responded."""

    resources: int | None = None
    """How many would be recorded, if that is known."""


async def look_at_cluster(
    connect: Callable[[], ClusterProbe],
) -> ClusterFindings:
    """Check a cluster."""
    try:
        cluster = connect()
    except RecorderError as exc:
        return _unreached(exc)
    try:
        return await _check(cluster)
    finally:
        await cluster.close()


async def _check(cluster: ClusterProbe) -> ClusterFindings:
    checks, uid = [], None
    try:
        identity = await within(REACH, "reach the cluster", cluster.identity())
    except RecorderError as exc:
        if exc.code != FORBIDDEN:
            return _unreached(exc)
        # It does respond, and other things may be missing as well.
        checks.append(judge_unreached(CLUSTER, exc.code, str(exc)))
    else:
        uid = identity.uid
        says = f"{identity.name} ({uid}), {identity.server_version}"
        checks.append(Check(name=CLUSTER, ok=True, says=says))
    checks.append(await _clock(cluster))
    rights, resources = await _rights(cluster)
    return ClusterFindings(
        checks=[*checks, *rights], uid=uid, resources=resources
    )


def _unreached(exc: RecorderError) -> ClusterFindings:
    return ClusterFindings(
        checks=[
            judge_unreached(CLUSTER, exc.code, str(exc)),
            untried(CLOCK, CLUSTER),
            untried(RIGHTS, CLUSTER),
        ]
    )


def judge_unreached(name: str, code: str, says: str) -> Check:
    """Return the check for a cluster that did not respond correctly."""
    remedy = REMEDIES.get(code, UNREACHABLE)
    return Check(name=name, ok=False, says=says, remedy=remedy)


async def _clock(cluster: ClusterProbe) -> Check:
    try:
        before = datetime.now(UTC)
        date = await within(REACH, "ask for the time", cluster.date())
        after = datetime.now(UTC)
        theirs = parsedate_to_datetime(date or "")
    except RecorderError as exc:
        return judge_unreached(CLOCK, exc.code, str(exc))
    except ValueError:
        says = "the API server does not report its time"
        return Check(name=CLOCK, ok=True, says=says)
    reading = ClockReading(
        before=before,
        theirs=theirs.astimezone(UTC),
        after=after,
        resolution=WHOLE_SECONDS,
    )
    return judge_clock(CLOCK, "the API server's", reading)


async def _rights(
    cluster: ClusterProbe,
) -> tuple[Sequence[Check], int | None]:
    try:
        rights = await within(
            TRY_RIGHTS, "check permissions", cluster.rights()
        )
    except RecorderError as exc:
        return [judge_unreached(RIGHTS, exc.code, str(exc))], None
    return judge_rights(RIGHTS, rights), rights.tried


def judge_rights(name: str, rights: Rights) -> Sequence[Check]:
    """Return a check for each missing rule, or one that all is well."""
    checks = [_judge_rule(name, right) for right in rights.missing]
    checks.extend(
        Check(
            name=name,
            ok=False,
            says=words,
            remedy="the resource itself fails, for example because its"
            " extension API server is down (kubectl get apiservices); fix it,"
            " or exclude the resource with RECORDER_EXCLUDE",
        )
        for words in rights.failed
    )
    if not checks:
        says = f"{rights.tried} resources can be listed, watched and read"
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
            " apply it, or exclude the resource with RECORDER_EXCLUDE"
        )
    return Check(
        name=name, ok=False, says=f"forbidden: {refused}", remedy=remedy
    )


def _quoted(resource: str) -> str:
    return '"*"' if resource == "*" else resource
