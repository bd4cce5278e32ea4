"""What mutation begins with: real documents, and some that are none.

The tape of a crash and the templates of the benchmarks are what API servers
sent; the nasties are what no client should send.
"""

import json
from functools import cache
from pathlib import Path

from bench import templates
from recorder.model.zstd import decompress
from tests.classify import documents

__all__ = ["NASTIES", "TOKENS", "Seed", "audits", "pool", "tape_lines"]

Seed = tuple[bytes, str]
"""A document, and the resource that it is of."""

CRASH = Path(__file__).parents[1] / "support/crash.tape.jsonl.zst"
SEED_BYTES_MAX = 7_000
SMALL_BYTES_MAX = 1_500
"""Of most seeds: a run of a million is to meet many documents, not few long
ones. Long ones are made of short ones."""

VERSIONS_OF_A_STORY = 3

NASTIES: tuple[bytes, ...] = (
    b"",
    b"{}",
    b"[]",
    b"null",
    b'""',
    b"0",
    b'{"a":' * 400 + b"1" + b"}" * 400,
    b"[" * 1_200 + b"]" * 1_200,
    b'{"metadata":{"name":1e999999,"uid":' + b"9" * 5_000 + b"}}",
    b'{"metadata":{"name":-0.0,"uid":1E+2,"resourceVersion":7}}',
    b'{"metadata":{"name":"a","name":"b"},"metadata":{"uid":"c"}}',
    b'{"\\u006detadata":{"n\\u0061me":"x","uid":"\\u0000\\ud83d\\ude00"}}',
    b'{"metadata":{"name":"\\ud800","uid":"\\udc00\\ud800","namespace":"\\u0000"}}',
    b'{"metadata":{"name":"\xff\xfe"}}',
    b'{"metadata":{"name":"\xed\xa0\x80"}}',
    b'{"metadata":{"name":"a\x00b"}}',
    b'\xef\xbb\xbf{"metadata":{"name":"bom"}}',
    b'{\r\n"metadata"\r\n:{"name":"crlf"}\r\n}',
    b'{"metadata":"none","kind":7,"spec":[],"involvedObject":true}',
    b'{"metadata":[],"involvedObject":{"name":{},"kind":[]},"series":1}',
    b'{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}}',
    b'{"lastTimestamp":"9999-12-31T23:59:59-23:59","eventTime":"-"}',
    b'{"eventTime":"1969-12-31T23:59:59.999999Z","series":[]}',
    b'{"firstTimestamp":"2026-02-30T25:61:61Z","lastTimestamp":"20261121T03Z"}',
    b'{"lastTimestamp":"9999-12-31T23:59:59.999999999+00:00:01"}',
    b'{"kind":"Secret","data":"text","stringData":[{"a":"b"}]}',
    b'{"kind":"Secret","kind":"Pod","data":{"a":{"data":{"b":"c"}}}}',
    b'{"env":[{"name":"HF_TOKEN","value":null}],"env":{"name":"A_KEY"}}',
    b'{"env":[{"name":["A_KEY"],"value":"x"}]}',
    b'{"a":"' + b"\\\\" * 300 + b'\\"env\\":[1"}',
    b'{"a":"{\\"kind\\":\\"Secret\\",\\"data\\":{\\"b\\":"}',
    b"{'a':1}",
    b'{"a":NaN,"b":-Infinity}',
    b'{"a":1,}',
    b'{"a":01}',
    b'{"a":1}{"b":2}',
    b"\x00" * 30,
    b'{"status":{"conditions":[{"type":"Ready","status":true},7]}}',
    b'{"spec":{"renewTime":7,"holderIdentity":["a"]},"status":"x"}',
)

TOKENS: tuple[bytes, ...] = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b'\\"', b"\n"),
    *(b"\r\n", b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf"),
    *(b"\\u0000", b"\\ud800", b"\\udfff", b"\\u0022", b"\\u005c", b"\\/"),
    *(b"null", b"true", b"-0", b"1e400", b"NaN", b"0x1", b"9" * 400, b"/*"),
    *(b'"env":[', b'"env":[]', b'"kind":"Secret"', b'"data":{', b'"items":['),
    *(b'"metadata":null,', b'"name":"HF_TOKEN"', b'"value":', b'\\"env\\":['),
    *(b'"kubectl.kubernetes.io/last-applied-configuration":"', b'"}]},'),
    *(b'"op":"replace","path":"/spec/env/0/value"', b'"token":"x",', b" "),
    *(b'{"type":"ERROR","object":{"code":410}}', b'{"type":"ADDED"', b"\t"),
    *(b'"resourceVersion":"0"', b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80", b"'"),
)


@cache
def pool(*, small: bool) -> tuple[Seed, ...]:
    """Return the documents of API servers, always in the same order."""
    if small:
        return tuple(
            seed
            for seed in pool(small=False)
            if len(seed[0]) <= SMALL_BYTES_MAX
        )
    seeds = [*_of_crash(), *_of_templates()]
    for name, resource in (
        ("event", "v1/events"),
        ("events_v1_event", "events.k8s.io/v1/events"),
        ("pod", "v1/pods"),
        ("lease", "coordination.k8s.io/v1/leases"),
        ("job", "batch/v1/jobs"),
        ("secret", "v1/secrets"),
    ):
        seeds.append((documents.compact(getattr(documents, name)()), resource))
    return tuple(
        seed for seed in dict.fromkeys(seeds) if len(seed[0]) <= SEED_BYTES_MAX
    )


@cache
def tape_lines() -> tuple[bytes, ...]:
    """Return the lines of the tape that are not long."""
    lines = decompress(CRASH.read_bytes()).splitlines()
    return tuple(line for line in lines if len(line) <= SEED_BYTES_MAX)


def _of_crash() -> list[Seed]:
    seeds = []
    for line in tape_lines()[1:]:
        frame = json.loads(line)
        if frame["frame"] == "watch":
            # The bytes of the line, not those of another encoder.
            made = line[line.index(b'"object":') + len(b'"object":') : -2]
            seeds.append((made, frame["resource"]))
    return seeds


def _of_templates() -> list[Seed]:
    return [
        (documents.compact(made), story.resource)
        for story in templates.load().every()
        for _, made in story.versions[:VERSIONS_OF_A_STORY]
    ] + [
        (documents.compact(made), templates.EVENTS)
        for story in templates.load().every()
        for made in story.events[:1]
    ]


@cache
def audits() -> tuple[bytes, ...]:
    """Return audit records about documents of the pool."""
    records = []
    for raw, resource in pool(small=True)[::7]:
        plural = resource.rpartition("/")[2].encode()
        records.append(
            b'{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request"'
            b',"auditID":"0f","stage":"ResponseComplete","verb":"create",'
            b'"requestURI":"/api/v1/namespaces/a/%b?limit=1","objectRef":'
            b'{"resource":"%b","namespace":"a","name":"b"},'
            b'"requestObject":%b}' % (plural, plural, raw)
        )
    return tuple(records)
