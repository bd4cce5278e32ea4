"""The file that describes a site's metrics store.

Its token is in a file of its own, which is read before each request.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from recorder.explain.knowledge import Knowledge
from recorder.explain.knowledge.rules import MetricOf
from recorder.model.errors import ConfigError
from recorder.model.rules_files import RulesFile
from recorder.model.setting_values import parse_duration

SELECTORS_MAX = 20
WRONG_MATCH = (
    'write label matchers such as node="{node}", separated by commas, with'
    " {node} in one of them"
)
REQUESTS_MAX = 6_000
"""A minute; a hundred a second."""

HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
MATCHER = re.compile(
    r'[a-zA-Z_][a-zA-Z0-9_]*(=|!=|=~|!~)"[^"\n\\]*"'
    r'(\s*,\s*[a-zA-Z_][a-zA-Z0-9_]*(=|!=|=~|!~)"[^"\n\\]*")*'
)
"""Label matchers of PromQL, separated by commas."""


class MetricsError(ConfigError):
    """The metrics store cannot be used as it is described."""

    code = "metrics.invalid"


class _Part(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """A part of the file; unknown fields are rejected."""


class Selector(_Part, frozen=True, kw_only=True):
    """By which labels the series of a node are found."""

    metrics: tuple[str, ...] = ("*",)
    """Names; ``*`` matches any characters."""

    match: str
    """Label matchers of PromQL, with ``{node}`` for the name of the Node:
    ``Hostname="{node}"``."""


class MetricsStore(_Part, frozen=True, kw_only=True):
    """A store that answers PromQL over HTTP, as Prometheus does."""

    url: str
    """The base URL, before ``/api/v1/query``."""

    headers: dict[str, str] = {}
    """Headers of each request, such as ``X-Scope-OrgID``."""

    token_file: str | None = None
    """A file with a bearer token."""

    ca_file: str | None = None
    """A file of CA certificates, instead of those of the system."""

    selectors: tuple[Selector, ...] = (Selector(match='node="{node}"'),)
    """The first whose names match is used."""

    remembers: str = "15d"
    """For how long the store keeps samples."""

    timeout: str = "30s"
    """For one request."""

    requests_a_minute: int = 300

    @property
    def remembered_for(self) -> timedelta:
        """`remembers`, parsed."""
        return parse_duration(self.remembers)

    @property
    def timeout_seconds(self) -> float:
        """`timeout`, in seconds."""
        return parse_duration(self.timeout).total_seconds()

    def names(
        self, knowledge: Knowledge, of: MetricOf = MetricOf.NODE
    ) -> Sequence[str]:
        """Return the metrics that are asked for."""
        return [
            name for name, rule in knowledge.metrics.items() if rule.of is of
        ]

    def selector(self, metric: str, node: str) -> str:
        """Return the selector of a metric of a node, with the name."""
        match = next(
            (
                one.match
                for one in self.selectors
                if any(fnmatchcase(metric, each) for each in one.metrics)
            ),
            'node="{node}"',
        )
        return f"{metric}{{{match.replace('{node}', node)}}}"


def load_store(path: Path) -> MetricsStore:
    """Read the file.

    Raises:
        MetricsError: it cannot be read, or is wrong; the message has its name
            and line.
    """
    file = RulesFile(str(path), MetricsError, holds="metrics store")
    found = file.read(file.text(), MetricsStore)
    for steps, why in _faults(found):
        raise file.fault(steps, why)
    return found


def _faults(
    store: MetricsStore,
) -> Sequence[tuple[tuple[str | int, ...], str]]:
    found: list[tuple[tuple[str | int, ...], str]] = []
    if (why := _wrong_address(store.url)) is not None:
        found.append((("url",), f"url: {why}"))
    found += [
        (("headers", name), f'"{name}" cannot be the name of a header')
        for name in _wrong_headers(store.headers)
    ]
    found += [
        (
            ("selectors", place),
            WRONG_MATCH,
        )
        for place, one in enumerate(store.selectors)
        if "{node}" not in one.match or MATCHER.fullmatch(one.match) is None
    ]
    if not 0 < len(store.selectors) <= SELECTORS_MAX:
        why = f"write 1 to {SELECTORS_MAX} selectors"
        found.append((("selectors",), why))
    if not 0 < store.requests_a_minute <= REQUESTS_MAX:
        why = f"requests_a_minute: it is 1 to {REQUESTS_MAX}"
        found.append((("requests_a_minute",), why))
    for name in ("remembers", "timeout"):
        try:
            usable = parse_duration(getattr(store, name)) > timedelta()
        except (ValueError, OverflowError):
            usable = False
        if not usable:
            why = f"{name}: it is not a duration: write 30s or 15d"
            found.append(((name,), why))
    return found


def _wrong_headers(headers: Mapping[str, str]) -> Sequence[str]:
    return [
        name
        for name, value in headers.items()
        if not HEADER.fullmatch(name) or not value.isprintable()
    ]


def _wrong_address(address: str) -> str | None:
    malformed = "it is not an address: write https://HOST:PORT"
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return malformed
    if not usable or parts.scheme not in {"http", "https"}:
        return malformed
    if parts.username is not None or parts.password is not None:
        return "it has a password in it: put a token into token_file"
    if parts.query or parts.fragment:
        return "it has a query: write the part before /api/v1"
    return None
