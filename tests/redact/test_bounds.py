"""Size, depth and number: cost stays in proportion, and nothing breaks."""

import json
import time
import tracemalloc
from typing import Any

import pytest

from recorder.intake.redact.search import (
    EMBEDDING_DEPTH_MAX,
    PIECES_MAX,
    REMEMBERED_ARRAYS_MAX,
)
from recorder.model.validity import UnreadableError
from tests.redact.examples import compact, digest, pack, redaction, variables

SIZE = 100_000
ESCAPED = b'{"\\u0061":0,"x":'
MICROSECONDS_A_BYTE_MAX = 20
"""A hundred times what is usual: not a measurement, but far below a square."""


def packed(document: Any) -> bytes:
    return json.dumps(json.dumps(document)).encode()[1:-1]


VARIABLE = b'{"name":"A_KEY","value":"hunter2"}'
COPY = packed({"env": variables(("A_KEY", "hunter2"))})
LARGE = {
    "objects": b'{"x":[%s{}]}' % (b"{}," * (SIZE // 3)),
    "members": b'{"x":{%s"a":1}}' % (b'"a":1,' * (SIZE // 6)),
    "escapes": b'{"x":"%s"}' % (b'\\"' * (SIZE // 2)),
    "backslashes": b'{"x":"%s"}' % (b"\\\\" * (SIZE // 2)),
    "letters": b'{"x":"%s"}' % (b"\\u0041" * (SIZE // 6)),
    "spaces": b'{"x":%s1}' % (b" " * SIZE),
    "variables": b'{"env":[%s0]}' % ((VARIABLE + b",") * (SIZE // 35)),
    "environments": b"[%s0]" % ((b'{"env":[%s]},' % VARIABLE) * (SIZE // 45)),
    "copies": b"[%s0]"
    % (
        b'{"kubectl.kubernetes.io/last-applied-configuration":"%s"},'
        % COPY
        * (SIZE // 120)
    ),
    "strangers": b"[%s0]" % (b'{"other":"%s"},' % COPY * (SIZE // 70)),
    "fragments": b'{"x":"%s"}' % (b'\\"env\\":[1]' * (SIZE // 12)),
    "open fragments": b'{"x":"%s"}' % (b'\\"env\\":[1' * (SIZE // 11)),
    "data": b'{"data":{%s"a":1},"kind":"Secret"}' % (b'"a":1,' * (SIZE // 6)),
    "nested data": b'{"kind":"Secret","data":' * 200 + b"1" + b"}" * 200,
    "nested env": b'{"env":[' * 200 + VARIABLE + b"]}" * 200,
    "one value": b'{"env":[{"name":"A_KEY","value":"%s"}]}' % (b"x" * SIZE),
    "one name": b'{"env":[{"name":"%s","value":"hunter2"}]}' % (b"x" * SIZE),
}


@pytest.mark.parametrize("shape", LARGE)
def test_time_and_memory_stay_in_proportion(shape: str) -> None:
    for raw in (LARGE[shape], ESCAPED + LARGE[shape] + b"}"):
        tracemalloc.start()
        start = time.process_time()
        once = redaction.any_json(raw)
        spent = time.process_time() - start
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        json.loads(once)
        assert b"hunter2" not in once
        assert spent * 1e6 < MICROSECONDS_A_BYTE_MAX * max(len(raw), 10_000)
        assert peak < 100 * max(len(raw), 10_000)


@pytest.mark.parametrize("size", [1_000, 300_000])
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"env":[', b'"'])
def test_heads_of_refusals_cost_their_length(
    opening: bytes, size: int
) -> None:
    for filling in (b" ", b"{", b'"', b"a ", b"\\", b':"', b'","', b"a="):
        head = opening + filling * (size // len(filling)) + b"x"
        start = time.process_time()
        redaction.refused(head)

        assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("opening", "closing"), [(b"[", b"]"), (b'{"env":[', b"]}")]
)
def test_what_is_nested_too_deeply_is_refused(
    opening: bytes, closing: bytes
) -> None:
    raw = opening * 200_000 + closing * 200_000

    for act in (redaction.any_json, redaction.audit):
        with pytest.raises(UnreadableError, match="nested too deeply"):
            act(raw)


def test_a_copy_that_is_nested_too_deeply_does_not_stay() -> None:
    inner = b'{"env":[' * 200_000 + b'{"name":"A_KEY","value":"hunter2"}'
    raw = compact({"note": (inner + b"]}" * 200_000).decode()})

    assert b"hunter2" not in redaction.any_json(raw)


def test_a_document_packed_too_often_does_not_stay() -> None:
    def document(times: int) -> Any:
        return {"a": pack({"env": variables(("A_KEY", "hunter2"))}, times)}

    within = redaction.any_json(compact(document(EMBEDDING_DEPTH_MAX)))
    beyond = redaction.any_json(compact(document(EMBEDDING_DEPTH_MAX + 2)))

    assert digest("hunter2").encode() in within
    assert b"hunter2" not in beyond
    assert digest("hunter2").encode() not in beyond


def test_of_too_many_pieces_in_a_text_the_rest_does_not_stay() -> None:
    piece = '"env":[{"name":"B","value":"plain"}] '
    text = f"failed: {piece * (PIECES_MAX + 1)}"

    once = json.loads(redaction.any_json(compact([text])))

    assert once[0].count("plain") == PIECES_MAX


def test_environments_seen_before_are_not_taken_for_each_other() -> None:
    def redacted(number: int) -> bytes:
        raw = compact({"env": variables(("A_KEY", f"v{number}"))})
        return redaction.document(raw, resource="v1/pods", served=True)

    first = [redacted(number) for number in range(REMEMBERED_ARRAYS_MAX + 9)]
    again = [redacted(number) for number in range(REMEMBERED_ARRAYS_MAX + 9)]

    assert first == again
    assert len(set(first)) == len(first)
    assert digest("v7").encode() in first[7]
