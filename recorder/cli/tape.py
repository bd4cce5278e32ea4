"""`recorder tape`: recordings in a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.lazy import LazyGroup
from recorder.cli.options import output_option
from recorder.cli.output import print_document, print_lines

if TYPE_CHECKING:
    from recorder.sources.tape import TapeCut, TapeGap, TapeInfo

COMMANDS = {
    "record": "recorder.cli.playing:record_tape",
    "play": "recorder.cli.playing:play",
    "info": "recorder.cli.tape:info",
    "cut": "recorder.cli.cutting:cut",
}


@click.group(cls=LazyGroup, places=COMMANDS)
def tape() -> None:
    """Write, play, describe and cut recordings of a cluster.

    A tape is a single file with everything the API server reported, redacted,
    in order of arrival. Use it to share an incident.
    """


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@output_option("table", "json", "yaml")
def info(file: Path, output: str) -> int:
    r"""Describe a tape: cluster, time span and contents.

    The exit status is 1 if the tape is truncated or damaged; the readable part
    is still described.

    \b
    Example:
      recorder tape info incident.tape.jsonl.zst
    """
    from recorder.sources.tape import describe

    found = describe(file)
    if output == "table":
        print_lines(_text(found))
    else:
        print_document(_document(found), output)
    if found.trouble is not None:
        raise found.trouble
    return 0


def _document(found: "TapeInfo") -> dict[str, Any]:
    from recorder.model.moment import written

    header = found.header
    return {
        "identity": found.identity,
        "cluster": header.cluster,
        "cluster_uid": header.cluster_uid,
        "kubernetes": header.kubernetes,
        "started_at": written(header.started_at),
        "cut": header.cut and _cut(header.cut),
        "first_at": found.first_at and written(found.first_at),
        "last_at": found.last_at and written(found.last_at),
        "frames": found.frames,
        "documents": found.documents,
        "bytes": found.bytes_file,
        "bytes_content": found.bytes_content,
        "counts": [
            {"frame": frame, "resource": resource or None, "count": count}
            for (frame, resource), count in sorted(found.counts.items())
        ],
        "gaps": [_gap(gap) for gap in found.gaps],
        "gaps_count": found.gaps_count,
        "trouble": found.trouble and str(found.trouble),
    }


def _cut(cut: "TapeCut") -> dict[str, Any]:
    from recorder.model.moment import optional_time

    return {
        "log": cut.log,
        "size": cut.size,
        "since": optional_time(cut.since),
        "until": optional_time(cut.until),
        "nodes": list(cut.nodes),
    }


def _cut_text(cut: "TapeCut") -> str:
    shown = _cut(cut)
    text = f"cut out of log {cut.log}"
    if cut.since is not None:
        text += f" from {shown['since']}"
    if cut.until is not None:
        text += f" to {shown['until']}"
    if cut.nodes:
        text += f", limited to {', '.join(cut.nodes)}"
    return text


def _gap(gap: "TapeGap") -> dict[str, Any]:
    from recorder.model.moment import written

    return {
        "resource": None if gap.resource is None else str(gap.resource),
        "from": gap.since and written(gap.since),
        "to": gap.until and written(gap.until),
        "reason": gap.reason,
    }


def _text(found: "TapeInfo") -> list[str]:
    from recorder.answers.text.lines import Columns, human_bytes

    shown, header = _document(found), found.header
    lines = [
        (
            f"cluster {shown['cluster']} ({shown['cluster_uid']}), Kubernetes"
            f" {shown['kubernetes']}"
        ),
        f"from {shown['first_at']} to {shown['last_at']}",
        (
            f"{found.frames} frames with {found.documents} documents,"
            f" {human_bytes(found.bytes_file)}"
            f" ({human_bytes(found.bytes_content)} decompressed)"
        ),
        f"identity {found.identity}",
        *([_cut_text(header.cut)] if header.cut is not None else []),
        "",
    ]
    rows = [
        [frame, resource, str(count)]
        for (frame, resource), count in sorted(found.counts.items())
    ]
    columns = Columns(("FRAME", "RESOURCE", "COUNT"))
    lines.extend([columns.header(rows), *columns.lines(rows), ""])
    lines.append(f"{found.gaps_count} gaps")
    lines.extend(
        f"  {gap['resource'] or 'everything'}: {gap['from']} to"
        f" {gap['to'] or 'its end'}, {gap['reason']}"
        for gap in shown["gaps"]
    )
    return lines
