"""The parts of a control plane and the flags they start with.

This says how etcd, the API server, the controller manager and the scheduler
of one cluster are started, and nothing about the order (`cluster`). The
flags are made for tests: nothing is synced to disk, no leader is elected, and
the node lifecycle takes seconds where a real one takes minutes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.certificates import Authority, KeyPair, kubeconfig
from tests.cluster.client import ApiClient, trusting
from tests.cluster.etcd import Etcd
from tests.cluster.machines import MachineSpec
from tests.cluster.ports import Ports
from tests.cluster.processes import Part

__all__ = ["AUDIT_EVERYTHING", "ControlPlane", "Flags", "Options"]

Flags = Mapping[str, str | None]

AUDIT_EVERYTHING: Mapping[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {"level": "RequestResponse"},
    ],
}
"""An audit policy: every write, with request and response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a test may choose about its cluster."""

    machines: tuple[MachineSpec, ...] = ()
    controller_manager: bool = True
    scheduler: bool = True

    json_storage: bool = True
    """Keep objects as JSON in etcd. Without it they are protobuf, as by
    default, and there is no oracle."""

    event_ttl: str = "1h"
    etcd_compaction_interval: str = "5m"
    """How often the API server compacts etcd; ``0`` for never."""

    node_monitor_grace_period: str = "14s"
    """How long a silent node stays Ready; more than the 10 s between two
    renewals of its Lease."""

    toleration_seconds: int = 5
    """How long pods stay on a node that is not ready or unreachable."""

    audit_policy: Mapping[str, Any] | None = None
    """Audit from the start; `ControlPlane.audit` changes it later."""

    etcd_flags: Flags = field(default_factory=dict)
    api_server_flags: Flags = field(default_factory=dict)
    controller_manager_flags: Flags = field(default_factory=dict)
    scheduler_flags: Flags = field(default_factory=dict)


class ControlPlane:
    """Four parts that are not started yet, and what they share."""

    def __init__(
        self, binary: Path, folder: Path, options: Options, ports: Ports
    ) -> None:
        self.binary = binary
        self.folder = folder
        self.ports = ports
        self.authority = Authority(folder / "certificates")
        self._options = options
        self._server = self.authority.server()
        self._tokens = self.authority.service_account_keys()
        admin = self.authority.client("admin", ["system:masters"])
        self.admin = admin

        self.etcd_url = f"http://127.0.0.1:{ports.take()}"
        self.peer_url = f"http://127.0.0.1:{ports.take()}"
        port = ports.take()
        self.server = f"https://127.0.0.1:{port}"
        self.kubeconfig = self.kubeconfig_for(admin, "admin")
        self.audit_log = folder / "audit.log"

        trust = trusting(str(self.authority.certificate), admin)
        self.api = ApiClient(self.server, trust)
        self.etcd_client = Etcd(self.etcd_url)
        self.etcd = self._etcd()
        self.api_server = self._api_server(port)
        self.controller_manager = self._controller_manager()
        self.scheduler = self._scheduler()

    @property
    def service_account_key(self) -> Path:
        """What tokens of service accounts are signed with."""
        return self._tokens.key

    async def close(self) -> None:
        """Close the connections and kill the parts."""
        await self.api.close()
        await self.etcd_client.close()
        for part in self.parts():
            part.kill_now()

    def parts(self) -> tuple[Part, ...]:
        """Every part, in the order in which they may end."""
        return (
            self.scheduler,
            self.controller_manager,
            self.api_server,
            self.etcd,
        )

    def kubeconfig_for(self, user: KeyPair | str, name: str) -> Path:
        """Write a kubeconfig of this cluster for a certificate or token."""
        return kubeconfig(
            self.folder / "kubeconfigs" / name,
            server=self.server,
            authority=self.authority.certificate,
            user=user,
        )

    async def audit(self, policy: Mapping[str, Any] | None) -> None:
        """Audit by another policy, or not at all; restarts the API server."""
        await self.api_server.restart(**self._audit_flags(policy))

    def another_api_server(self, host: str, **flags: str | None) -> Part:
        """Return one more API server of this etcd, which is not started.

        At another address, but the same port, as in a slice of endpoints.
        """
        changed = {name.replace("_", "-"): flags[name] for name in flags}
        return Part(
            f"kube-apiserver-{host}",
            [str(self.binary), "kube-apiserver"],
            {**self.api_server.flags, "bind-address": host, **changed},
            folder=self.folder,
        )

    def _etcd(self) -> Part:
        data = self.folder / "etcd"
        flags: dict[str, str | None] = {
            "data-dir": str(data),
            "listen-client-urls": self.etcd_url,
            "advertise-client-urls": self.etcd_url,
            "listen-peer-urls": self.peer_url,
            "initial-advertise-peer-urls": self.peer_url,
            "initial-cluster": f"default={self.peer_url}",
            "unsafe-no-fsync": "true",
            "log-level": "warn",
        }
        return self._part(
            "etcd",
            flags | dict(self._options.etcd_flags),
            self.etcd_client.healthy,
        )

    def _api_server(self, port: int) -> Part:
        options = self._options
        tolerated = str(options.toleration_seconds)
        flags: dict[str, str | None] = {
            "etcd-servers": self.etcd_url,
            "bind-address": "127.0.0.1",
            # No interface but loopback is needed, so none is looked for.
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",
            "secure-port": str(port),
            "service-cluster-ip-range": "10.0.0.0/24",
            "client-ca-file": str(self.authority.certificate),
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": str(self._tokens.certificate),
            "service-account-signing-key-file": str(self._tokens.key),
            "authorization-mode": "Node,RBAC",
            "enable-admission-plugins": "NodeRestriction",
            "allow-privileged": "true",
            # Without, SIGTERM waits a minute for the watches to end.
            "shutdown-watch-termination-grace-period": "2s",
            "event-ttl": options.event_ttl,
            "etcd-compaction-interval": options.etcd_compaction_interval,
            "default-not-ready-toleration-seconds": tolerated,
            "default-unreachable-toleration-seconds": tolerated,
        }
        if options.json_storage:
            flags["storage-media-type"] = "application/json"
        if not options.controller_manager:
            # Nothing makes the service account that every pod would need.
            flags["disable-admission-plugins"] = "ServiceAccount"
        for name, value in self._audit_flags(options.audit_policy).items():
            flags[name.replace("_", "-")] = value
        return self._part(
            "kube-apiserver",
            flags | self._serving() | dict(options.api_server_flags),
            self._api_server_ready,
        )

    def _controller_manager(self) -> Part:
        user = self._component("kube-controller-manager")
        flags: dict[str, str | None] = {
            **user,
            "secure-port": str(self.ports.take()),
            "bind-address": "127.0.0.1",
            "leader-elect": "false",
            "service-account-private-key-file": str(self._tokens.key),
            "root-ca-file": str(self.authority.certificate),
            "use-service-account-credentials": "true",
            # At the usual 20 a second, making its own service accounts
            # takes it three seconds.
            "kube-api-qps": "500",
            "kube-api-burst": "1000",
            "node-monitor-period": "1s",
            "node-monitor-grace-period": (
                self._options.node_monitor_grace_period
            ),
            "node-eviction-rate": "0.5",
        }
        flags |= self._serving() | dict(self._options.controller_manager_flags)
        return self._part("kube-controller-manager", flags)

    def _scheduler(self) -> Part:
        flags: dict[str, str | None] = {
            **self._component("kube-scheduler"),
            "secure-port": str(self.ports.take()),
            "bind-address": "127.0.0.1",
            "leader-elect": "false",
        }
        flags |= self._serving() | dict(self._options.scheduler_flags)
        return self._part("kube-scheduler", flags)

    def _part(self, name: str, flags: Flags, ready: Any | None = None) -> Part:
        return Part(
            name,
            [str(self.binary), name],
            flags,
            folder=self.folder,
            ready=ready,
        )

    def _component(self, name: str) -> dict[str, str]:
        user = self.authority.client(f"system:{name}")
        path = str(self.kubeconfig_for(user, name))
        return {
            "kubeconfig": path,
            "authentication-kubeconfig": path,
            "authorization-kubeconfig": path,
        }

    def _serving(self) -> dict[str, str]:
        return {
            "tls-cert-file": str(self._server.certificate),
            "tls-private-key-file": str(self._server.key),
        }

    def _audit_flags(
        self, policy: Mapping[str, Any] | None
    ) -> dict[str, str | None]:
        if policy is None:
            return {"audit_policy_file": None, "audit_log_path": None}
        path = self.folder / "audit-policy.json"
        path.write_text(json.dumps(policy))
        return {
            "audit_policy_file": str(path),
            "audit_log_path": str(self.audit_log),
        }

    async def _api_server_ready(self) -> bool:
        return await self.api.answers("/readyz")
