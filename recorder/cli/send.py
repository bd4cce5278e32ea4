"""`recorder send`: post an event to a recorder, from a script or cron."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.output import note

if TYPE_CHECKING:
    from recorder.keeping.sending import Receiver, Sent
    from recorder.keeping.spool import Spool
    from recorder.model.settings import Settings

WAITS = 4
DATA_BYTES_MAX = 192 << 10
"""What is left of the 256 KiB of an event, in base64."""

STATUSES = (
    "Exit status: 0 in the log, 1 refused or not kept, 2 usage error,"
    " 4 kept in the spool, to be sent later."
)


@click.command(epilog=STATUSES)
@click.argument("kind", metavar="[TYPE", required=False)
@click.argument("subject", metavar="SUBJECT", required=False)
@click.argument("members", metavar="[KEY=VALUE]...]", nargs=-1)
@click.option("--source", help="Who claims it. Default: host/NAME.")
@click.option(
    "--id",
    "named",
    help="Id of the event, the same when it is repeated. Default: a new one.",
)
@click.option(
    "--time",
    "at",
    metavar="TIME",
    help="When it happened: with a zone, as @SECONDS since 1970, or none."
    " Default: now.",
)
@click.option(
    "--data",
    "file",
    metavar="FILE",
    help="The data of the event instead of KEY=VALUE; - for stdin.",
)
@click.option("--flush", is_flag=True, help="Only send what waits.")
@click.option("--url", help="Address of the recorder [RECORDER_SEND_URL].")
@click.option(
    "--token-file",
    metavar="FILE",
    help="File with the token [RECORDER_SEND_TOKEN_FILE].",
)
@click.option(
    "--ca-file",
    metavar="FILE",
    help="Authority of the recorder's certificate [RECORDER_SEND_CA_FILE].",
)
@click.option(
    "--spool",
    metavar="FOLDER",
    help="Where events wait [RECORDER_SEND_SPOOL].",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="How long to send for.",
)
@click.pass_context
def send(ctx: click.Context, /, **given: Any) -> int:
    r"""Post an event to a recorder, now or when it can be reached.

    SUBJECT is what the event is about, such as node/gpu-1 or pdu/b3. A VALUE
    in JSON, such as 7 or true, is that value, anything else a text.

    Events wait in a spool on disk, and those that wait are sent first, in
    their order. What the recorder refuses is moved to the folder refused
    beside them. The server's settings are not needed.

    \b
    Example:
      recorder send note rack/b3 text="PDU B3 tripped"
      recorder send machine.power node/gpu-1 power=off --source pdu/b3
      recorder send kernel.dump node/$(hostname) --data /sys/fs/pstore/dmesg-0
      recorder send --flush
    """
    from recorder.keeping.sending import flush
    from recorder.keeping.spool import Spool, spool_folder

    settings: Settings = ctx.obj
    receiver = _receiver(settings, given)
    named = given["spool"] and Path(given["spool"])
    folder = spool_folder(named or settings.send_spool)
    spool = Spool(folder / receiver.name)
    if given["flush"]:
        if given["kind"]:
            ctx.fail("--flush sends what waits: remove TYPE and SUBJECT")
        sent = flush(spool, receiver, given["timeout"])
        _report(sent, spool)
        return WAITS if sent.trouble else int(bool(sent.refused))
    if not given["subject"]:
        ctx.fail("name the TYPE of the event and its SUBJECT")
    return _send(spool, receiver, _event(ctx, given), given["timeout"])


def _send(
    spool: "Spool", receiver: "Receiver", document: bytes, seconds: float
) -> int:
    from recorder.keeping.sending import flush
    from recorder.keeping.spool import SpoolError

    try:
        number = spool.put(document)
    except SpoolError:
        # Full: what can be sent makes room.
        flush(spool, receiver, seconds)
        number = spool.put(document)
    sent = flush(spool, receiver, seconds)
    _report(sent, spool)
    if spool.is_waiting(number):
        return WAITS
    # Another process may have sent it.
    return int(spool.refusal_of(document) is not None)


def _report(sent: "Sent", spool: "Spool") -> None:
    for one in sent.refused:
        note(f"refused, {one.reason} ({one.place})", colour="red")
    waiting = spool.count() if sent.trouble else 0
    if waiting:
        note(
            f"{waiting} event{'s' * (waiting != 1)} kept, to be sent later:"
            f" {sent.trouble}",
            colour="yellow",
        )


def _receiver(settings: "Settings", given: dict[str, Any]) -> "Receiver":
    from recorder.keeping.sending import receiver_at

    def path(name: str, setting: Path | None) -> Path | None:
        return Path(given[name]).expanduser() if given[name] else setting

    return receiver_at(
        given["url"] or settings.send_url,
        path("token_file", settings.send_token_file),
        path("ca_file", settings.send_ca_file),
    )


def _event(ctx: click.Context, given: dict[str, Any]) -> bytes:
    import json
    import socket
    from uuid import uuid4

    event: dict[str, Any] = {
        "specversion": "1.0",
        "id": given["named"] or str(uuid4()),
        "source": given["source"] or f"host/{socket.gethostname()}",
        "type": given["kind"],
        "subject": given["subject"],
    }
    at = _time(ctx, given["at"])
    if at is not None:
        event["time"] = at
    if given["file"] and given["members"]:
        ctx.fail("--data is the whole data: remove KEY=VALUE")
    if given["file"]:
        event |= _data(ctx, given["file"])
    elif given["members"]:
        event["data"] = dict(_member(ctx, one) for one in given["members"])
    return json.dumps(event, ensure_ascii=False).encode(errors="replace")


def _time(ctx: click.Context, text: str | None) -> str | None:
    if text == "none":
        return None
    try:
        if text is None:
            at = datetime.now(UTC)
        elif text.startswith("@"):
            at = datetime.fromtimestamp(float(text[1:]), UTC)
        else:
            at = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        at = None
    if at is None or at.tzinfo is None:
        ctx.fail(
            f'"{text}" is no time with a zone: write 2026-11-26T03:00:00Z,'
            " @SECONDS or none"
        )
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _member(ctx: click.Context, text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        ctx.fail(f'"{text}" is not KEY=VALUE')
    return key, _json(value, value)


def _json(text: str, otherwise: object) -> Any:
    """Return the value of a text in JSON; another value if it is none."""
    import json

    def unknown(_: str) -> None:
        raise ValueError

    try:
        return json.loads(text, parse_constant=unknown)
    except (ValueError, RecursionError):
        return otherwise


def _data(ctx: click.Context, name: str) -> dict[str, Any]:
    """Return the data of a file: an object or list in JSON, text or bytes."""
    try:
        with click.open_file(name, "rb") as stream:
            content = stream.read(DATA_BYTES_MAX + 1)
    except OSError as exc:
        ctx.fail(f"cannot read {name}: {exc.strerror}")
    if len(content) > DATA_BYTES_MAX:
        ctx.fail(f"{name} has more than {DATA_BYTES_MAX >> 10} KiB: send less")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        from base64 import b64encode

        return {
            "datacontenttype": "application/octet-stream",
            "data_base64": b64encode(content).decode(),
        }
    found = _json(text, None)
    if isinstance(found, dict | list):
        return {"data": found}
    return {"datacontenttype": "text/plain", "data": text}
