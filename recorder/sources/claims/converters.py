"""Converters: requests of senders that do not write CloudEvents, as events.

Each is a struct of what the sender writes and a function that makes events of
it; `CONVERTERS` lists them by the path under which a request reaches them.
What was sent stays in the data of the event under its own names. A member that
has the wrong type is named. Times without a zone count only if the request
names the zone; what cannot be read as a time is no time.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from recorder.facts.classify.times import moment
from recorder.model.moment import written
from recorder.model.observation import SLURM
from recorder.sources.claims.envelope import EnvelopeError
from recorder.sources.slurm.pushed import NO_ZONE, pushed_event

Event = dict[str, Any]
Read = TypeVar("Read")

UNSET_BEFORE = datetime(2010, 1, 1, tzinfo=UTC)
"""Earlier times are those of a clock that was never set, as after a service
processor lost its power."""

OFFSET = re.compile(r"([+-])(\d\d):(\d\d)")


class Truncated(NamedTuple):
    """What a sender left out, as it says itself."""

    since: datetime | None
    reason: str
    key: str
    """The same if the sender repeats the request."""


class Converted(NamedTuple):
    """The events of a request."""

    events: Sequence[Event]
    truncated: Truncated | None = None


Converter = Callable[[bytes, tzinfo | None], Converted]
"""Makes events of a body; times without a zone are in the given one."""


def zone_of(name: str | None) -> tzinfo | None:
    """Return a time zone, by its name or as an offset such as ``+02:00``.

    Raises:
        EnvelopeError: there is none of that name.
    """
    if name is None:
        return None
    # The plus sign of an offset in a query is a space once it is decoded.
    offset = OFFSET.fullmatch(name.replace(" ", "+"))
    try:
        if offset is None:
            return ZoneInfo(name)
        by = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-by if offset[1] == "-" else by)
    except (KeyError, ValueError, OSError) as exc:
        msg = f'there is no time zone "{name[:64]}": write Europe/Berlin, UTC'
        msg += " or +02:00"
        raise EnvelopeError(msg) from exc


def time_of(text: object, zone: tzinfo | None = None) -> str | None:
    """Return a time in UTC as an event has it; None if there is none."""
    at = moment(text)
    if at is None and zone is not None and isinstance(text, str):
        try:
            local = datetime.fromisoformat(text).replace(tzinfo=zone)
            at = local.astimezone(UTC)
        except (ValueError, OverflowError):
            at = None
    return None if at is None or at < UNSET_BEFORE else written(at)


def content_id(*parts: object) -> str:
    """Return an id that is the same for the same content."""
    text = msgspec.json.encode(parts, order="deterministic")
    return sha256(text).hexdigest()[:32]


def decoded(body: bytes, form: type[Read]) -> Read:
    """Return a body as its sender writes it.

    Raises:
        EnvelopeError: it has another form; the member is named.
    """
    try:
        return msgspec.json.decode(body, type=form, strict=False)
    except (ValueError, RecursionError) as exc:
        raise EnvelopeError(str(exc)) from exc


def _event(
    kind: str,
    named: str,
    subject: str | None,
    at: str | None,
    data: Mapping[str, Any],
) -> Event:
    event: Event = {"id": named, "type": kind, "data": data}
    if subject:
        event["subject"] = subject
    if at is not None:
        event["time"] = at
    return event


# Alertmanager: https://prometheus.io/docs/alerting/latest/configuration


class _Alert(msgspec.Struct, rename="camel"):
    status: str
    labels: dict[str, str]
    starts_at: str
    annotations: dict[str, str] = {}
    ends_at: str | None = None
    fingerprint: str | None = None
    generator_u_r_l: str | None = msgspec.field(
        default=None, name="generatorURL"
    )


class _Alerts(msgspec.Struct, rename="camel"):
    version: str
    alerts: list[_Alert]
    group_key: str = ""
    truncated_alerts: int = 0


NODE_LABELS = ("node", "nodename", "kubernetes_node", "Hostname")
"""Labels that name a node, by kube-state-metrics, the exporter of nodes,
relabelling, and dcgm-exporter."""


def _alertmanager(body: bytes, zone: tzinfo | None) -> Converted:
    """Return an event for each alert and status; repetitions are the same."""
    said = decoded(body, _Alerts)
    if said.version != "4":
        msg = '"version" is not 4, which Alertmanager writes since 0.6'
        raise EnvelopeError(msg)
    events = []
    for alert in said.alerts:
        fingerprint = alert.fingerprint or content_id(alert.labels)
        resolved = alert.status == "resolved"
        at = time_of(alert.ends_at if resolved else alert.starts_at, zone)
        node = next(filter(None, map(alert.labels.get, NODE_LABELS)), None)
        named = f"alert/{alert.labels.get('alertname', fingerprint)}"
        data = {
            **msgspec.to_builtins(alert),
            "fingerprint": fingerprint,
            "groupKey": said.group_key,
        }
        events.append(
            _event(
                "alert",
                f"{fingerprint}/{alert.starts_at}/{alert.status}",
                f"node/{node}" if node else named,
                at,
                data,
            )
        )
    if not said.truncated_alerts:
        return Converted(events)
    return Converted(events, _left_out(said, events))


def _left_out(said: _Alerts, events: Sequence[Event]) -> Truncated:
    starts = filter(None, (moment(one.starts_at) for one in said.alerts))
    return Truncated(
        min(starts, default=None),
        f"Alertmanager left out {said.truncated_alerts} alerts of the group"
        f" {said.group_key[:200]}",
        content_id(
            said.group_key,
            said.truncated_alerts,
            [event["id"] for event in events],
        ),
    )


# Redfish: https://redfish.dmtf.org/schemas/v1/Event.json


class _Redfish(msgspec.Struct, rename="pascal"):
    events: list[dict[str, Any]]
    context: str


POWER = re.compile(
    r"\.(DCPowerO(n|ff)(AfterACLost)?|(Power|Reset)Button\w*"
    r"|PowerRestorePolicyApplied|PowerSupply\w*|\w*Watchdog\w*)$"
)
"""Messages of OpenBMC about the power of a machine, and its resets."""

RESTART_CAUSE = re.compile(r"[\w.]*\.RestartCause\.\w+")
NOT_CONTENT = frozenset({"EventId", "MemberId", "@odata.id", "EventGroupId"})
"""Members that repeat for other events, or differ for a repeated one."""


def _redfish(body: bytes, zone: tzinfo | None) -> Converted:
    """Return an event for each record, of the machine in ``Context``."""
    said = decoded(body, _Redfish)
    if not said.context:
        msg = '"Context" is empty: subscribe with the name of the node in it'
        raise EnvelopeError(msg)
    subject = said.context if "/" in said.context else f"node/{said.context}"
    events = []
    for record in said.events:
        data = dict(record)
        origin = data.get("OriginOfCondition")
        if isinstance(origin, dict):
            data["OriginOfCondition"] = origin.get("@odata.id")
        arguments = data.get("MessageArgs")
        texts = [data.get("Message"), *(arguments or ())]
        cause = next(_found(RESTART_CAUSE, texts), None)
        if cause is not None:
            data["RestartCause"] = cause
        is_power = POWER.search(str(data.get("MessageId", "")))
        content = {k: v for k, v in data.items() if k not in NOT_CONTENT}
        events.append(
            _event(
                "machine.power" if is_power or cause else "machine.event",
                content_id(subject, content),
                subject,
                time_of(data.get("EventTimestamp"), zone),
                data,
            )
        )
    return Converted(events)


def _found(pattern: re.Pattern[str], texts: Sequence[object]) -> Iterator[str]:
    for text in texts:
        if isinstance(text, str) and (found := pattern.search(text)):
            yield found[0]


# UFM: the answer of GET /ufmRest/app/events


class _UfmEvent(msgspec.Struct):
    id: int
    name: str
    timestamp: str
    type: str = ""
    event_type: str = ""
    severity: str = ""
    category: str = ""
    counter: Any = None
    object_name: str = ""
    object_path: str = ""
    description: str = ""


LINKS = {"328": "up", "329": "down"}
OBJECTS = {
    "331": ("node", "down"),
    "332": ("node", "up"),
    "907": ("switch", "down"),
    "908": ("switch", "up"),
    "909": ("switch", "down"),
    "910": ("switch", "up"),
}
"""The kind of place that an event is about, and the state that it is in."""

ENDS = re.compile(
    r"(?P<guid>\w+) \((?P<kind>\w+): (?P<name>[^)]*)\) : (?P<port>\w+)"
)
"""An end of a link: ``GUID (Switch: NAME) : 12``."""


def _ufm(body: bytes, zone: tzinfo | None) -> Converted:
    """Return an event for each event of the fabric, also of a single one."""
    one_of_them = list[_UfmEvent] | _UfmEvent
    said: Any = decoded(body, one_of_them)  # type: ignore[arg-type]
    events = []
    for event in said if isinstance(said, list) else [said]:
        number = event.event_type or event.type
        data = msgspec.to_builtins(event)
        kind, subject = "fabric.event", event.object_name or event.name
        if number in LINKS:
            kind = "link.state"
            subject, more = _link(event)
            data = {"state": LINKS[number], **more, **data}
        elif number in OBJECTS:
            place, state = OBJECTS[number]
            kind, subject = "link.state", f"{place}/{event.object_name}"
            data = {"state": state, **data}
        events.append(
            _event(
                kind,
                # Ids begin anew with a new installation.
                f"{event.id}/{event.timestamp}",
                subject,
                time_of(event.timestamp, zone),
                data,
            )
        )
    return Converted(events)


def _link(event: _UfmEvent) -> tuple[str, dict[str, str]]:
    """Return the port whose link changed, its peer, and their machine."""
    ends = [match.groupdict() for match in ENDS.finditer(event.description)]
    # A computer is named with its adapter behind the host.
    ports = [f"{end['name'].replace(' ', ':')}:{end['port']}" for end in ends]
    hosts = [one["name"].split() for one in ends if one["kind"] == "Computer"]
    more = {"node": hosts[0][0]} if hosts and hosts[0] else {}
    if not ports:
        return f"port/{event.object_name}", more
    return f"port/{ports[0]}", {
        "port": ports[0],
        **({"peer": ports[1]} if len(ports) > 1 else {}),
        **more,
    }


# NVSentinel: data-models/protobufs/health_event.proto, as JSON


class _HealthEvent(msgspec.Struct, rename="camel"):
    node_name: str
    check_name: str
    agent: str = ""
    component_class: str = ""
    is_fatal: bool = False
    is_healthy: bool = False
    message: str = ""
    recommended_action: Any = None
    error_code: list[str] = []
    entities_impacted: list[dict[str, Any]] = []
    generated_timestamp: Any = None
    processing_strategy: Any = None
    metadata: dict[str, Any] = {}


class _HealthEvents(msgspec.Struct):
    events: list[_HealthEvent]


def _nvsentinel(body: bytes, zone: tzinfo | None) -> Converted:
    """Return an event for each health event, singly, in a list or wrapped."""
    stripped = body.lstrip()
    if stripped.startswith(b"["):
        found = decoded(body, list[_HealthEvent])
    elif b'"events"' in body:
        found = decoded(body, _HealthEvents).events
    else:
        found = [decoded(body, _HealthEvent)]
    events = []
    for one in found:
        data = msgspec.to_builtins(one)
        events.append(
            _event(
                "machine.health",
                content_id(data),
                f"node/{one.node_name}",
                _generated(one.generated_timestamp, zone),
                data,
            )
        )
    return Converted(events)


def _generated(at: object, zone: tzinfo | None) -> str | None:
    """Return a time of protobuf: a text, or seconds and nanoseconds."""
    if isinstance(at, dict):
        try:
            seconds = float(at["seconds"]) + float(at.get("nanos", 0)) / 1e9
            at = datetime.fromtimestamp(seconds, UTC).isoformat()
        except (KeyError, TypeError, ValueError, OverflowError, OSError):
            return None
    return time_of(at, zone)


# Slurm: the documents of jobcomp/elasticsearch


def slurm_converter(
    place: Callable[[str], str | None], cluster: str
) -> Converter:
    """Return the converter of finished runs of Slurm.

    Args:
        place: returns the Node of a node of Slurm.
        cluster: the Slurm cluster of documents that name none.
    """

    def convert(body: bytes, zone: tzinfo | None) -> Converted:
        if zone is None:
            raise EnvelopeError(NO_ZONE)
        try:
            return Converted([pushed_event(body, zone, place, cluster)])
        except (ValueError, RecursionError) as exc:
            raise EnvelopeError(str(exc)) from exc

    return convert


CONVERTERS: Mapping[str, Converter] = {
    "alertmanager": _alertmanager,
    "redfish": _redfish,
    "ufm": _ufm,
    "nvsentinel": _nvsentinel,
    SLURM: slurm_converter(lambda _: None, ""),
}
