"""Our credentials for the cluster, kept current while they rotate.

kubernetes_asyncio reads kubeconfigs, runs exec plugins and refreshes OIDC
tokens, but reads a ``tokenFile`` and a certificate only once. So its loader
runs again once a minute, and at once when the cluster rejects the credentials;
an exec plugin runs only when its token is about to expire.
"""

import asyncio
import copy
import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config import (
    ConfigException,
    load_incluster_config,
    load_kube_config,
)
from kubernetes_asyncio.config.kube_config import KubeConfigLoader

from recorder.sources.watch.clock import Clock
from recorder.sources.watch.errors import (
    Asked,
    CertificateError,
    KubeconfigError,
)

_PLUGIN_TIMEOUT = 60.0
"""For an exec plugin or an identity provider to respond."""

_REFUSED_PAUSE = 1.0
"""Least time between two reloads after rejected credentials: a wrong
credential must not run its plugin for every request of every watch."""

_BROKEN = (
    ConfigException,
    yaml.YAMLError,
    OSError,
    ValueError,
    # A kubeconfig of an unexpected shape makes the loader fail in these ways;
    # it does not check a schema.
    AssertionError,
    AttributeError,
    KeyError,
    TypeError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to reach the cluster at this moment."""

    server: str
    authorization: str | None
    ca_file: str | None
    cert_file: str | None
    key_file: str | None
    verify: bool
    server_name: str | None
    proxy: str | None
    tls_digest: str
    """Changes when a certificate or key does: new requests should not use
    connections made before."""

    def at(self, server: str, asked: Asked) -> "Access":
        """Return the access to one of the servers behind the address.

        The cluster itself names these servers: without checking certificates,
        any of its workloads could receive our token.

        Raises:
            CertificateError: certificates are not verified.
        """
        common = urlsplit(self.server)
        if common.scheme != "https" or not self.verify:
            msg = (
                f"cannot {asked}: servers are asked at their own addresses"
                " only where their certificates are verified"
            )
            raise CertificateError(msg)
        name = self.server_name or common.hostname
        return replace(self, server=f"https://{server}", server_name=name)


class Credentials:
    """Provides the current credentials, reloading them as they age."""

    def __init__(
        self,
        kubeconfig: str | None,
        context: str | None,
        *,
        age_max: float,
        clock: Clock,
    ) -> None:
        self._paths = _kubeconfig_paths(kubeconfig)
        self._context = context
        self._age_max = age_max
        self._clock = clock
        # Owned by the task that holds the lock: without it, hundreds of
        # watches rejected at once would run an exec plugin each. Tasks that
        # waited for a failed load share its error.
        self._lock = asyncio.Lock()
        self._failure: KubeconfigError | None = None
        self._failed_at = 0.0
        self._loader: KubeConfigLoader | None = None
        self._configuration = Configuration()
        self._access: Access | None = None
        self._looked_at = self._made_at = 0.0
        self.name = context or "in-cluster"
        """The operator's name for this cluster."""

    async def access(self, *, newer_than: float | None = None) -> Access:
        """Return the access, reloaded if it is older than a steady time.

        Raises:
            KubeconfigError: there is none, or it cannot be used.
        """
        asked_at = self._clock.monotonic()
        async with self._lock:
            failure = self._failure
            if failure is not None and self._failed_at >= asked_at:
                raise copy.copy(failure)
            try:
                return await self._current(newer_than)
            except KubeconfigError as exc:
                self._failure, self._failed_at = exc, self._clock.monotonic()
                raise

    async def _current(self, newer_than: float | None) -> Access:
        now = self._clock.monotonic()
        refused = (
            newer_than is not None
            and newer_than >= self._made_at
            and now - self._made_at >= _REFUSED_PAUSE
        )
        aged = now - self._looked_at >= self._age_max
        if self._access is None or refused or aged:
            await self._load(refused=refused)
            self._looked_at = now
            if self._access is None or refused:
                self._made_at = now
            self._access = _read_access(self._configuration)
        return self._access

    async def _load(self, *, refused: bool) -> None:
        try:
            async with asyncio.timeout(_PLUGIN_TIMEOUT):
                if self._paths is None:
                    self._configuration = Configuration()
                    load_incluster_config(  # type: ignore[no-untyped-call]
                        self._configuration  # the library has no types here
                    )
                else:
                    await self._load_kubeconfig(self._paths, refused=refused)
        except TimeoutError as exc:
            msg = f'the credentials of "{self.name}" did not arrive in time'
            raise KubeconfigError(msg) from exc
        except _BROKEN as exc:
            where = self._paths or "the pod's service account"
            msg = f"{where} cannot be used: {str(exc) or type(exc).__name__}"
            raise KubeconfigError(msg) from exc

    async def _load_kubeconfig(self, paths: str, *, refused: bool) -> None:
        if self._loader is not None and not refused and self._runs_plugin():
            if hasattr(self._loader, "exec_plugin_expiry"):
                # Runs the plugin only when its token is about to expire.
                await self._loader.load_and_set(self._configuration)
            return
        self._configuration = Configuration()
        self._loader = await load_kube_config(
            paths, self._context, client_configuration=self._configuration
        )
        current = self._loader.current_context or {}
        self.name = current.get("name") or self.name

    def _runs_plugin(self) -> bool:
        user = getattr(self._loader, "_user", None)
        return user is not None and "exec" in user


def _kubeconfig_paths(kubeconfig: str | None) -> str | None:
    """Choose as kubectl does; None for the Pod's service account."""
    paths = kubeconfig or os.environ.get("KUBECONFIG")
    if paths is None:
        home = Path.home() / ".kube" / "config"
        if not home.exists() and "KUBERNETES_SERVICE_HOST" in os.environ:
            return None
        paths = str(home)
    separated = [Path(p).expanduser() for p in paths.split(os.pathsep) if p]
    if not any(path.exists() for path in separated):
        msg = f'no kubeconfig: "{paths}" does not exist'
        raise KubeconfigError(msg)
    return paths


def _read_access(configuration: Configuration) -> Access:
    token = configuration.api_key.get("BearerToken")
    return Access(
        server=(configuration.host or "").rstrip("/"),
        # A token file that ends in a line feed would break the header.
        authorization=token.strip() if token else None,
        ca_file=configuration.ssl_ca_cert,
        cert_file=configuration.cert_file,
        key_file=configuration.key_file,
        verify=configuration.verify_ssl,
        server_name=configuration.tls_server_name,
        proxy=configuration.proxy,
        tls_digest=_digest(configuration),
    )


def _digest(configuration: Configuration) -> str:
    digest = hashlib.sha256()
    for file in (
        configuration.ssl_ca_cert,
        configuration.cert_file,
        configuration.key_file,
    ):
        digest.update(b"\0")
        if file:
            try:
                digest.update(Path(file).read_bytes())
            except OSError as exc:
                msg = f'"{file}" cannot be read: {exc.strerror}'
                raise KubeconfigError(msg) from exc
    flags = (configuration.host, configuration.tls_server_name)
    digest.update(repr((*flags, configuration.verify_ssl)).encode())
    return digest.hexdigest()
