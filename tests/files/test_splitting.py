"""A text in chunks of any size is split into its documents.

The oracle knows where each record was written, and nothing of brackets.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.sources.audit.exports import Cut, Other, Record, found_in
from recorder.sources.files import State, documents, splitting
from recorder.sources.files import text as text_module
from recorder.sources.files.brackets import Brackets, Found

TEXTS = st.text(
    st.sampled_from('ab{}[]",:\\\n\t é\u2028\U0001f600/'), max_size=12
)


def record(number: int, text: str = "") -> dict[str, Any]:
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "auditID": str(number),
        "stage": "ResponseComplete",
        "verb": "patch",
        "sourceIPs": ["203.0.113.7"],
        "user": {"username": text, "groups": [text, "b"]},
        "requestObject": {"status": {"conditions": [{"m": text}, {}]}},
    }


class Written(NamedTuple):
    """A text, and where each record is in it, with what is around it."""

    text: bytes
    places: Sequence[tuple[int, int]]


def between(
    records: Sequence[dict[str, Any]],
    one: Callable[[dict[str, Any]], str],
    *,
    head: str = "",
    separator: str = "\n",
    tail: str = "",
) -> Written:
    text, places = head.encode(), []
    for number, each in enumerate(records):
        begin = len(text)
        text += one(each).encode()
        places.append((begin, len(text)))
        if number < len(records) - 1:
            text += separator.encode()
    return Written(text + tail.encode(), places)


def dumped(each: dict[str, Any]) -> str:
    return json.dumps(each, ensure_ascii=False)


def pretty(each: dict[str, Any]) -> str:
    return json.dumps(each, indent=2)


def indented(each: dict[str, Any]) -> str:
    return json.dumps(each, indent=4).replace("\n", "\n    ")


def docker(each: dict[str, Any]) -> str:
    return json.dumps(
        {"log": dumped(each) + "\n", "stream": "stdout", "time": "2026"}
    )


def message(each: dict[str, Any]) -> str:
    return json.dumps({"id": "1", "message": dumped(each)})


def row(each: dict[str, Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(["2026-11-20", dumped(each)])
    return out.getvalue()


WAYS: dict[str, Callable[[Sequence[dict[str, Any]]], Written]] = {
    "a line each": lambda all_of: between(all_of, dumped, tail="\n"),
    "lines of Windows": lambda all_of: between(
        all_of, dumped, separator="\r\n", tail="\r\n"
    ),
    "one behind another": lambda all_of: between(all_of, dumped, separator=""),
    "over several lines": lambda all_of: between(all_of, pretty),
    "over several lines, without a newline between": lambda all_of: between(
        all_of, pretty, separator=""
    ),
    "a list on a line": lambda all_of: between(
        all_of, dumped, head="[", separator=", ", tail="]\n"
    ),
    "a list over several lines": lambda all_of: between(
        all_of, indented, head="[\n    ", separator=",\n    ", tail="\n]\n"
    ),
    "a batch": lambda all_of: between(
        all_of,
        dumped,
        head='{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[',
        separator=",",
        tail="]}",
    ),
    "a batch over several lines": lambda all_of: between(
        all_of,
        indented,
        head='{\n  "items": [\n    ',
        separator=",\n    ",
        tail='\n  ],\n  "kind": "EventList"\n}\n',
    ),
    "an answer of CloudWatch": lambda all_of: between(
        all_of,
        message,
        head='{"events":[',
        separator=",",
        tail='],"nextToken":"}]"}',
    ),
    "lines of CRI": lambda all_of: between(
        all_of,
        lambda each: f"2026-11-20T10:01:00.1Z stdout F {dumped(each)}",
    ),
    "lines of Docker": lambda all_of: between(all_of, docker),
    "behind the name of a node": lambda all_of: between(
        all_of, lambda each: f"ip-10-0-1-2.ec2.internal {dumped(each)}"
    ),
    "rows of a table": lambda all_of: between(
        all_of, row, head="@timestamp,@message\n"
    ),
}


def count(text: bytes, block: int = 1 << 20) -> Counter[str]:
    stream = io.BytesIO(text)
    counted: Counter[str] = Counter()
    for document in documents(lambda _: stream.read(block)):
        for found in found_in(document):
            kind = type(found).__name__
            counted[kind] += 1
            if isinstance(found, Record):
                json.loads(found.raw)
    assert not counted["Other"]
    return counted


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_what_is_taken_refused_and_cut_is_all_that_a_file_holds(
    way: str, data: st.DataObject
) -> None:
    texts = data.draw(st.lists(TEXTS, min_size=1, max_size=4))
    written = WAYS[way]([record(n, text) for n, text in enumerate(texts)])
    at = data.draw(st.integers(0, len(written.text)))
    block = data.draw(st.sampled_from([1, 7, 64, 1 << 20]))

    counted = count(written.text[:at], block)

    whole = sum(end <= at for _, end in written.places)
    begun = sum(begin < at for begin, _ in written.places)
    assert counted["Record"] == whole
    # What is around the records may be all that there is of a document.
    in_head = int(0 < at <= written.places[0][0])
    held = counted["Record"] + counted["Refused"] + counted["Cut"]
    assert begun <= held <= begun + in_head


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_whole_is_taken_wholly(way: str) -> None:
    written = WAYS[way]([record(n, '"}{\\') for n in range(5)])

    assert count(written.text) == Counter({"Record": 5})


@pytest.mark.parametrize("length", range(3, 200, 7))
def test_a_line_that_was_cut_does_not_take_the_next_ones_with_it(
    length: int,
) -> None:
    whole = [dumped(record(n)) for n in range(3)]
    text = f"{whole[0]}\n{whole[1][:length]}\n{whole[2]}\n{whole[0]}\n"

    assert count(text.encode()) == Counter({"Record": 3, "Cut": 1})


@pytest.mark.parametrize("length", range(3, 200, 7))
def test_what_was_written_behind_a_record_that_was_cut_is_taken(
    length: int,
) -> None:
    whole = dumped(record(1))
    text = f"{whole[:length]}{whole}\n{whole}\n"

    assert count(text.encode()) == Counter({"Record": 2, "Cut": 1})


def test_pieces_of_a_long_line_are_put_together() -> None:
    long = dumped(record(1, "x" * 100))
    at = "2026-11-20T10:01:00.123456789Z"
    lines = [
        f"{at} stdout P {long[:50]}",
        f"{at} stderr F I1120 10:00:59.000000       1 controller.go:615] x",
        f"{at} stdout F {long[50:]}",
    ]
    found = [
        each
        for document in documents(reader("\n".join(lines).encode()))
        for each in found_in(document)
    ]

    assert [type(each) for each in found] == [Other, Record]


def test_the_beginning_of_a_long_line_is_cut() -> None:
    line = b'2026-11-20T10:01:00Z stdout P {"kind":"Event",'
    (document,) = documents(reader(line))

    assert [type(each) for each in found_in(document)] == [Cut]


def test_lines_are_numbered_as_an_editor_does() -> None:
    text = f"x\n\n{pretty({'a': 1})}\n{{}}\n{{"
    found = list(documents(reader(text.encode())))

    assert [(d.line, d.last_line, d.state) for d in found] == [
        (1, 1, State.TEXT),
        (3, 5, State.WHOLE),
        (6, 6, State.WHOLE),
        (7, 7, State.CUT),
    ]


def test_damaged_titles_are_no_table() -> None:
    text = b'@message,"time"x\ny,2026-11-20\n'

    found = list(documents(reader(text)))

    assert {d.state for d in found} == {State.TEXT}


def test_a_document_is_bounded_and_the_next_one_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(splitting, "DOCUMENT_BYTES_MAX", 400)
    monkeypatch.setattr(text_module, "BLOCK", 64)
    large = dumped(record(1, "x" * 2000))
    text = f"{large}\n{dumped({'a': 1})}\n"
    stream = io.BytesIO(text.encode())

    found = list(documents(stream.read))

    assert [d.state for d in found] == [State.TOO_LARGE, State.WHOLE]
    assert found[0].raw.startswith(b'{"kind"')


def test_a_list_in_a_document_may_be_larger_than_a_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(splitting, "DOCUMENT_BYTES_MAX", 1000)
    monkeypatch.setattr(text_module, "BLOCK", 64)
    written = WAYS["a batch"]([record(n) for n in range(50)])

    assert count(written.text, 64) == Counter({"Record": 50})


def test_a_million_brackets_take_no_more_than_a_moment() -> None:
    """Each byte of a file of zeros is read a few times, no more."""
    for text in (b"{\n" * 100_000, b'{"a":[' * 50_000, b"{}" * 100_000):
        found = list(documents(reader(text)))
        assert len(found) >= 1


def reader(text: bytes) -> Callable[[int], bytes]:
    return io.BytesIO(text).read


def test_a_long_string_in_small_blocks_is_searched_in_linear_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = 0
    read = Brackets.read

    def counted(brackets: Brackets, buffer: bytes) -> Found:
        nonlocal searched
        searched += len(buffer) - brackets.at
        return read(brackets, buffer)

    monkeypatch.setattr(Brackets, "read", counted)
    text = json.dumps({"a": [record(1, "x" * 500_000)]}, indent=1).encode()
    file = io.BytesIO(text)

    (one,) = documents(lambda _: file.read(97))
    assert one.state is State.WHOLE
    assert one.raw == text
    assert searched < 3 * len(text)
