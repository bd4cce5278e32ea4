"""Settings: what an operator may choose, and where each choice is read.

Strongest first: flags, the environment (``RECORDER_`` and the name in upper
case), one TOML file. Read at the edge and passed on as plain values; nothing
below `wiring` knows this module.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from recorder.errors import ConfigError

__all__ = ["Settings", "SettingsError", "parse_duration"]

PREFIX = "RECORDER_"
NOT_SETTINGS = frozenset({"RECORDER_CONFIG"})
"""Variables with our prefix that choose where settings come from."""

TEST_PREFIX = "RECORDER_TEST_"


class SettingsError(ConfigError):
    """A setting has a name or a value that cannot be."""

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

    include: tuple[str, ...] = ()
    """Resources to record besides the built-in ones: ``group/resource``,
    ``resource`` of the core group, or ``*`` for everything but Secrets and
    ConfigMaps."""

    exclude: tuple[str, ...] = ()
    """Resources not to record."""

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

    redaction_key_file: Path | None = None
    """File of the key that redaction digests are made with. Default:
    ``redaction.key`` in `data_dir`, made on first use."""

    redact_names: tuple[str, ...] = ()
    """Case-insensitive regular expressions, searched for in the names of
    environment variables, in addition to the built-in ones."""

    health_listen: str = "127.0.0.1:9464"
    """Address of /healthz, /readyz and /metrics, which expose no objects;
    empty: disabled."""

    serve_listen: str = "127.0.0.1:9470"
    """Address of the API and the page; any other than loopback needs
    `token_file`."""

    token_file: Path | None = None
    """File of access tokens for the API, as `recorder token` writes
    it; None: anyone who can reach the loopback address has access."""

    disk_free_min: float = 5.0
    """Free space on the disk of `data_dir`, in percent, below which
    recording pauses."""

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


DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_duration(text: str) -> timedelta:
    """Read ``90s``, ``2h``, ``3d`` or ``1h30m``.

    Raises:
        ValueError: the text has another form.
    """
    if not re.fullmatch(f"(?:{DURATION.pattern})+", text):
        msg = f'"{text}" is not a duration: write 90s, 15m, 2h or 3d'
        raise ValueError(msg)
    return timedelta(
        seconds=sum(
            float(number) * UNITS[unit]
            for number, unit in DURATION.findall(text)
        )
    )


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in {"true", "1", "yes", "on"}:
        return True
    if str(value).lower() in {"false", "0", "no", "off"}:
        return False
    msg = f'"{value}" is neither true nor false'
    raise ValueError(msg)


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, (list, tuple)) and all(
        isinstance(part, str) for part in value
    ):
        return tuple(value)
    msg = f'"{value}" is not a list of strings'
    raise ValueError(msg)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        msg = f'"{value}" is not a string'
        raise ValueError(msg)  # noqa: TRY004 - one kind of error for all
    return value


def _patterns(value: Any) -> tuple[str, ...]:
    patterns = _texts(value)
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as exc:
            msg = f'"{pattern}" is not a regular expression: {exc}'
            raise ValueError(msg) from exc
    return patterns


def _percent(value: Any) -> float:
    number = float(value)
    if not 0 <= number < 100:  # noqa: PLR2004 - percent
        msg = f'"{value}" is not a percentage below 100'
        raise ValueError(msg)
    return number


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    return parse_duration(str(value))


def _path(value: Any) -> Path:
    return Path(str(value)).expanduser()


CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    "data_dir": _path,
    "redaction_key_file": _path,
    "token_file": _path,
    "include": _texts,
    "exclude": _texts,
    "knowledge": _texts,
    "redact_names": _patterns,
    "full_fidelity": _boolean,
    "event_ttl": _duration,
    "reconcile_every": _duration,
    "disk_free_min": _percent,
}
"""How each setting is read; a text where it is not here."""

NAMES = tuple(field.name for field in fields(Settings))


def _converted(name: str, value: Any, place: str) -> Any:
    convert = CONVERTERS.get(name) or _text
    try:
        return convert(value)
    except (ValueError, TypeError) as exc:
        msg = f'cannot use setting "{name}" from {place}: {exc}'
        raise SettingsError(msg) from exc


def _unknown(name: str, place: str, names: tuple[str, ...]) -> SettingsError:
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
    for name, value in content.items():
        if name not in NAMES:
            raise _unknown(name, str(file), NAMES)
        given[name] = _converted(name, value, str(file))
    return given


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
