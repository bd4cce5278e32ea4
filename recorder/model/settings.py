"""Settings: what an operator may choose, and where each choice is read.

In order of precedence: flags, the environment (``RECORDER_`` and the name in
upper case), one TOML file. Read at the edge and passed on as plain values;
nothing below `wiring` knows this module.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from recorder.model.errors import ConfigError
from recorder.model.setting_values import converter_of

PREFIX = "RECORDER_"
NOT_SETTINGS = frozenset({"RECORDER_CONFIG"})
"""Variables with our prefix that choose where settings come from."""

TEST_PREFIX = "RECORDER_TEST_"


class SettingsError(ConfigError):
    """A setting has an unknown name or an invalid value."""

    code = "config.settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting, with its default."""

    database_url: str | None = None
    """PostgreSQL 15 or newer, ``postgresql://user@host/database``. None:
    the embedded server under `data_dir`."""

    data_dir: Path = Path()
    """Data folder of the embedded server and the redaction key. Default: the
    user's data folder; as root ``/var/lib/recorder``."""

    kubeconfig: str | None = None
    """Path of a kubeconfig; None: ``KUBECONFIG``, the usual file, or the
    service account of the pod."""

    context: str | None = None
    """Context of the kubeconfig; None: its current one."""

    cluster: str | None = None
    """Cluster to query, by name or UID."""

    clusters_file: Path | None = None
    """Registry of clusters whose logs are in databases of their own: TOML, one
    table ``[clusters]`` with ``NAME = "postgresql://..."``. Used by commands
    that read, and by ``serve``, if `database_url` is not set."""

    include: tuple[str, ...] = ()
    """Resources to record besides the built-in ones: ``group/resource``,
    ``resource`` of the core group, or ``*`` for everything but Secrets and
    ConfigMaps."""

    exclude: tuple[str, ...] = ()
    """Resources not to record."""

    audit_logs: tuple[str, ...] = ()
    """Audit log files of the API servers to follow, through rotation: one
    for each API server."""

    audit_listen: str = ""
    """Address of the audit webhook, to which API servers send their records;
    empty: disabled. Needs `audit_certificate` and `audit_key`, and
    `audit_client_ca`, `audit_token_file` or both."""

    audit_certificate: Path | None = None
    """File of the certificate of the audit webhook."""

    audit_key: Path | None = None
    """File of the key of that certificate."""

    audit_client_ca: Path | None = None
    """File of the authority whose client certificates the audit webhook
    requires. It must sign nothing else: every holder of such a certificate may
    add records."""

    audit_token_file: Path | None = None
    """File of tokens, as `recorder token` writes it; senders to the audit
    webhook need one of them."""

    ingest_token_file: Path | None = None
    """File of tokens, as `recorder token add --source --type` writes it, of
    senders that may post events to ``/ingest`` at `audit_listen`. Default:
    none are accepted."""

    ingest_mappings: tuple[str, ...] = ()
    """TOML files with mappings of objects that senders post as they are."""

    slurm_url: str = ""
    """Address of a slurmrestd to poll, ``http://HOST:PORT``; empty: none.
    Needs `slurm_cluster` and `slurm_token_file`."""

    slurm_user: str = "slurm"
    """User of the token."""

    slurm_token_file: Path | None = None
    """File with a token of Slurm, and nothing else; it is read again for each
    request."""

    slurm_cluster: str = ""
    """Name of the Slurm cluster (``ClusterName``); answers of another one are
    refused."""

    slurm_interval: timedelta = timedelta(seconds=5)
    """Time between two polls, at least; longer if Slurm takes more than a
    twentieth of it to answer."""

    slurm_nodes: Path | None = None
    """TOML file that names the Node of each node of Slurm, as in ``"gpu-001" =
    "ip-10-0-1-1"``, where neither Slurm nor a label does."""

    slurm_same_names: bool = False
    """Whether nodes of Slurm have the names of their Nodes."""

    slurm_log: Path | None = None
    """Log file of slurmctld to follow, which alone names what preempted a
    job; None: none."""

    audit_repeated_for: timedelta = timedelta(seconds=80)
    """For how long API servers repeat a batch that was not accepted; what was
    rejected for longer is a gap. Eight times their
    ``--audit-webhook-initial-backoff``."""

    audit_truncate_addresses: bool = False
    """Whether to keep only the network of source addresses in audit records:
    24 bits of IPv4, 48 of IPv6."""

    knowledge: tuple[str, ...] = ()
    """Rules files for what a site's own controllers write; their rules take
    precedence over those of the package."""

    full_fidelity: bool = False
    """Whether updates that only renew a heartbeat become entries too; they
    are 95 % of all updates of Nodes and Leases."""

    event_ttl: timedelta = timedelta(hours=1)
    """The API server's ``--event-ttl``, which cannot be read from it."""

    reconcile_every: timedelta = timedelta(hours=1)
    """How often to list each resource and compare it with the log."""

    reach_back: timedelta = timedelta(seconds=10)
    """For how long to read what a rejected watch missed from the past that the
    API server still holds, before recording continues there; the same before
    the first list of a resource. ``0s``: never."""

    redaction_key_file: Path | None = None
    """File of the key that redaction digests are made with. Default:
    ``redaction.key`` in `data_dir`, created on first use."""

    signing_key_file: Path | None = None
    """File of the key that signs checkpoints. Default: ``signing.key`` in
    `data_dir`, created on first use."""

    trusted_keys: Path | None = None
    """File of the public keys whose checkpoints are trusted. Default:
    ``signing.pub`` in `data_dir`, maintained by `recorder keys`."""

    checkpoint_places: tuple[str, ...] = ()
    """Where checkpoints are written: folders, ``git:FOLDER``,
    ``s3://BUCKET/PREFIX``. Default: ``checkpoints`` in `data_dir`."""

    checkpoint_witnesses: tuple[str, ...] = ()
    """Witnesses that cosign checkpoints, each as ``URL NAME+ID+KEY``."""

    checkpoint_every: timedelta = timedelta(minutes=1)
    """How often a log that has grown gets a checkpoint."""

    redact_names: tuple[str, ...] = ()
    """Case-insensitive regular expressions, searched for in the names of
    environment variables, in addition to the built-in ones."""

    health_listen: str = "127.0.0.1:9464"
    """Address of /healthz, /readyz and /metrics, which expose no objects;
    empty: disabled."""

    serve_listen: str = "127.0.0.1:9470"
    """Address of the API and the page; an address other than loopback needs
    `token_file`."""

    token_file: Path | None = None
    """File of access tokens for the API, as `recorder token` writes
    it; None: anyone who can reach the loopback address has access. One
    directly in `data_dir` is created, without tokens."""

    serve_kubernetes: bool = False
    """Whether the API also accepts tokens of the cluster, and shows what their
    holders may get there: by TokenReview and SubjectAccessReview at the API
    server of `kubeconfig`."""

    links: tuple[str, ...] = ()
    """Links that the page offers, each as ``NAME=URL`` with names in braces
    that the page fills in: ``Grafana=https://grafana/d/node?var-node={node}``.
    """

    serve_read_log: str = ""
    """Name of a log in which `serve` records who read what, before it
    responds; empty: reads are not recorded. Each server needs a log of its
    own, and the role `recorder_writer`."""

    serve_graphiql: bool = True
    """Whether the API serves GraphiQL, where people write queries in a
    browser, at `/graphiql`."""

    serve_audiences: tuple[str, ...] = ("recorder",)
    """Audiences of such tokens; each token must have one of them."""

    serve_certificate: Path | None = None
    """File of the certificate of the API; None: plain HTTP. It and the key are
    read again when they are renewed."""

    serve_key: Path | None = None
    """File of its key."""

    serve_proxy_ca: Path | None = None
    """File of the authority that signs the certificate of an authenticating
    proxy, whose headers name the user; None: there is none."""

    serve_proxy_names: tuple[str, ...] = ()
    """Common names that the proxy's certificate may have; empty: any."""

    serve_proxy_headers: tuple[str, ...] = (
        "X-Remote-User",
        "X-Remote-Group",
    )
    """Headers in which the proxy names the user, and the groups."""

    notify_file: Path | None = None
    """File of rules that say which incidents and gaps are posted to which
    webhooks, by `recorder notify` or beside `recorder up`; None: none."""

    notify_listen: str = "127.0.0.1:9465"
    """Address of /healthz, /readyz and /metrics of `recorder notify`, or of
    `recorder measure`; empty: disabled."""

    metrics_file: Path | None = None
    """File that describes the metrics store which `recorder measure`, alone or
    beside `recorder up`, asks around incidents; None: none."""

    send_url: str | None = None
    """Address of the recorder to which `recorder send` posts events,
    ``https://HOST:PORT``."""

    send_token_file: Path | None = None
    """File with the token of `recorder send`, and nothing else."""

    send_ca_file: Path | None = None
    """File of the authority that signed the certificate of that recorder.
    Default: those of the system."""

    send_spool: Path | None = None
    """Folder in which events of `recorder send` wait. Default: the user's
    state folder; as root ``/var/spool/recorder``."""

    disk_free_min: float = 5.0
    """Free space on the disk of `data_dir`, in percent, below which
    recording pauses."""

    retention_enabled: bool = True
    """Whether the recorder archives and drops days by itself, once an hour,
    with the embedded server."""

    retention_hot: timedelta = timedelta(days=7)
    """For how long whole days stay in the database; one day more is kept,
    because answers look a day further back."""

    retention_archive: str = ""
    """Where days are archived: a folder, ``s3://BUCKET/PREFIX``, or ``none``.
    Default: ``archive`` in `data_dir`; required with `database_url`."""

    retention_budget: str = "auto"
    """Size of the database above which the oldest days are dropped before
    their time: ``200GB``, ``none``, or ``auto``: what leaves 5 % of the disk
    free beyond `disk_free_min`."""

    retention_unarchived: str = "keep"
    """``drop``: days may be dropped although nothing is archived."""

    iceberg_catalog: str = ""
    """Catalog of Iceberg tables that list the archive: ``local``, a file
    beside it, an address, or a name in pyiceberg's configuration."""

    iceberg_namespace: str = "recorder"
    """Namespace of these tables."""

    @classmethod
    def load(
        cls,
        *,
        environ: Mapping[str, str],
        file: Path | None = None,
        flags: Mapping[str, Any] | None = None,
    ) -> Self:
        """Read settings from all three places.

        Raises:
            SettingsError: an unknown name, or a value of the wrong form.
        """
        given: dict[str, Any] = {"data_dir": default_data_dir(environ)}
        if file is not None:
            given.update(_from_file(file))
        given.update(_from_environment(environ))
        for name, value in (flags or {}).items():
            if value not in (None, ()):
                given[name] = _converted(name, value, f"--{name}")
        return cls(**given)


def default_data_dir(environ: Mapping[str, str]) -> Path:
    """Return the data folder of this user."""
    if os.geteuid() == 0:
        return Path("/var/lib/recorder")
    base = environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local/share") / "recorder"


TABLE = "retention"
"""Settings that may be in a table of this name, without it as a prefix."""

CONVERTERS = {
    field.name: converter_of(field.name, field.type)
    for field in fields(Settings)
}
NAMES = tuple(CONVERTERS)

REMOVED = {
    "retention_longer": "days are dropped whole. Delete the setting: answers"
    " read dropped days in the archive, so set retention_archive, or keep days"
    " in the database for longer with retention_hot",
    "retention_shorter": "days stay whole until they are dropped. Delete the"
    " setting: what should not be kept must not be recorded, see exclude and"
    " the audit policy of the API server",
}
"""What to do instead of settings that were removed."""


def _converted(name: str, value: Any, place: str) -> Any:
    try:
        return CONVERTERS[name](value)
    except (ValueError, TypeError, RuntimeError) as exc:
        # The last for the home of a user that does not exist.
        msg = f'cannot use setting "{name}" from {place}: {exc}'
        raise SettingsError(msg) from exc


def _unknown(name: str, place: str, names: tuple[str, ...]) -> SettingsError:
    instead = REMOVED.get(name.removeprefix(PREFIX).lower())
    if instead is not None:
        return SettingsError(
            f'setting "{name}" in {place} no longer exists: {instead}'
        )
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return SettingsError(f'unknown setting "{name}" in {place}{hint}')


def _from_file(file: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(file.read_text())
    except OSError as exc:
        msg = f"cannot read the configuration {file}: {exc.strerror}"
        raise SettingsError(msg) from exc
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        msg = f"cannot read the configuration {file}: {exc}"
        raise SettingsError(msg) from exc
    given = {}
    for name, value in _flat(content):
        if name not in NAMES:
            raise _unknown(name, str(file), NAMES)
        given[name] = _converted(name, value, str(file))
    return given


def _flat(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the settings; those in the table ``retention`` by whole names."""
    for name, value in content.items():
        if name == TABLE and isinstance(value, dict):
            for inner, one in value.items():
                yield f"{TABLE}_{inner}", one
        else:
            yield name, value


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    given = {}
    variables = tuple(PREFIX + name.upper() for name in NAMES)
    for variable, value in environ.items():
        if (
            not variable.startswith(PREFIX)
            or variable.startswith(TEST_PREFIX)
            or variable in NOT_SETTINGS
        ):
            continue
        if variable not in variables:
            raise _unknown(variable, "the environment", variables)
        name = variable.removeprefix(PREFIX).lower()
        given[name] = _converted(name, value, variable)
    return given
