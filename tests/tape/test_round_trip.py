"""A tape is read back as it was written, to the byte."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.model.observation import (
    TAPE,
    AuditRecorded,
    ClockJumped,
    EpochBegan,
    ListPage,
    Observation,
    PlaceReached,
    StreamResumed,
    WatchFrame,
)
from recorder.sources.tape.frames import observation_of
from recorder.sources.tape.lines import line_of
from recorder.sources.tape.wire import LineError, UnwritableError
from recorder.sources.tape.writer import cut_page
from tests.tape.builders import PODS, a_pod, at, one_of_each, read, write
from tests.tape.strategies import documents, observations


def line_with(document: bytes) -> bytes:
    line = line_of(
        WatchFrame(
            observed_at=at(0), resource=PODS, type="ADDED", object=document
        )
    )
    assert line is not None
    return line


def document_in(line: bytes) -> bytes:
    seen = observation_of(line.removesuffix(b"\n"))
    assert isinstance(seen, WatchFrame)
    return seen.object


def a_page(items: list[bytes]) -> ListPage:
    return ListPage(
        observed_at=at(0),
        resource=PODS,
        resource_version="7",
        items=items,
        more=False,
    )


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@given(observations)
def test_an_observation_survives_a_line(observation: Observation) -> None:
    line = line_of(observation)

    assert line is not None
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert observation_of(line[:-1]) == observation


@given(observations)
def test_a_line_is_json_with_times_in_utc(observation: Observation) -> None:
    fields = json.loads(line_of(observation) or b"")
    moment = fields["at"]

    assert len(moment) == len("2026-11-21T03:18:00.000000Z")
    assert datetime.fromisoformat(moment) == observation.observed_at
    assert moment.endswith("Z")


@settings(max_examples=30)
@given(st.lists(observations, max_size=20))
def test_a_tape_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, written: list[Observation]
) -> None:
    folder = tmp_path_factory.mktemp("tape")
    for name in ("a.tape.jsonl.zst", "a.tape.jsonl"):
        assert read(write(folder / name, written)) == written


def test_every_kind_of_frame_is_written_and_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tape.jsonl.zst", one_of_each())

    assert read(path) == one_of_each()


def test_what_only_a_live_connection_knows_is_left_out(
    tmp_path: Path,
) -> None:
    live: list[Observation] = [
        StreamResumed(observed_at=at(0), resource=PODS),
        ClockJumped(observed_at=at(1), seconds=-86400.0),
        PlaceReached(observed_at=at(2), source=TAPE, stream="tape", place="7"),
    ]

    assert read(write(tmp_path / "a.tape.jsonl", live)) == []


@given(documents())
def test_newlines_between_tokens_become_spaces(document: bytes) -> None:
    pretty = json.dumps(json.loads(document), indent=1).encode()

    kept = document_in(line_with(b"\n " + pretty + b"\r\n"))

    assert kept == pretty.replace(b"\n", b" ")
    assert json.loads(kept) == json.loads(pretty)


@pytest.mark.parametrize(
    "document",
    [
        b'{"b" : 1.0e+2,"a":1,\t"b":2 }',
        b'{"a":"\\u0000\\/\\ud83d\\ude00\xe2\x80\xa8"}',
        b'{"a":123456789012345678901234567890.10}',
        b"{}",
    ],
)
def test_a_document_is_spliced_in_unchanged(document: bytes) -> None:
    line = line_with(document)

    assert document in line
    assert document_in(line) == document


@pytest.mark.parametrize("document", [b"7", b"null", b"[]", b'"a"'])
def test_a_document_may_be_any_json(document: bytes) -> None:
    """What it should have been is for others to say."""
    assert document_in(line_with(document)) == document


@pytest.mark.parametrize(
    "document",
    [
        rb'{"a":"\udc80"}',
        rb'{"a":"\uD8aB"}',
        rb'{"a":"\ud83d\ude00\udfff\ud83d\ud83d\ude00"}',
        rb'{"a":"\\ud800 \\\ud800","\udc00":"\n"}',
    ],
)
def test_a_document_with_half_a_surrogate_pair_is_kept(
    document: bytes,
) -> None:
    json.loads(document)
    page = a_page([document, a_pod(1)])
    line = line_of(page)
    assert line is not None

    assert observation_of(line[:-1]) == page
    assert document_in(line_with(document)) == document
    for event in (
        AuditRecorded(observed_at=at(0), event=document),
        EpochBegan(observed_at=at(0), reason="\U0001f600"),
    ):
        assert observation_of((line_of(event) or b"")[:-1]) == event


def test_whole_pairs_beside_halves_are_left_alone() -> None:
    line = line_of(replace(a_page([rb'{"a":"\udc80"}']), kind="?"))
    assert line is not None
    line = line.replace(b'"kind":"?"', rb'"kind":"\ud83d\ude00"')

    assert getattr(observation_of(line[:-1]), "kind", None) == "\U0001f600"


def test_hidden_halves_differ_from_what_was_there() -> None:
    with pytest.raises(LineError, match="invalid JSON"):
        observation_of(line_with(b"{}").replace(b"{}", rb'"\udc80\ue8ab"'))


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b'{"a":1',
        b'{"a":1}}, {"b":{}',
        b'1],"x":[2',
        b'{"a":"\xff"}',
        rb'{"a":"\udc80\ue8ab"}',
        nested(5000),
    ],
)
def test_a_document_that_would_end_the_tape_has_no_line(
    document: bytes,
) -> None:
    with pytest.raises(UnwritableError):
        line_with(document)


def test_the_deepest_document_is_read_from_a_higher_stack() -> None:
    """How deep JSON may be nested depends on the stack of who reads it."""

    def is_written(depth: int) -> bool:
        try:
            line_with(nested(depth))
        except UnwritableError:
            return False
        return True

    def read_higher(line: bytes, frames: int) -> bytes:
        if frames:
            return read_higher(line, frames - 1)
        return document_in(line)

    deepest = next(n for n in range(1000, 0, -5) if is_written(n))

    assert deepest > 500
    assert read_higher(line_with(nested(deepest)), 180) == nested(deepest)


def test_a_text_that_is_no_unicode_is_written_all_the_same() -> None:
    line = line_of(EpochBegan(observed_at=at(0), reason="\udcff"))

    assert line is not None
    assert line.endswith(b'"reason":"?"}\n')


def test_a_page_is_cut_to_fit_and_stays_one_list() -> None:
    page = a_page([a_pod(n) for n in range(10)])

    pages = list(cut_page(page, len(a_pod(0)) * 3))

    assert [len(page.items) for page in pages] == [3, 3, 3, 1]
    assert [page.more for page in pages] == [True, True, True, False]
    assert [item for page in pages for item in page.items] == page.items


@pytest.mark.parametrize("items", [[], [a_pod(1)], [a_pod(1), a_pod(2)]])
def test_a_page_that_fits_is_left_alone(items: list[bytes]) -> None:
    assert list(cut_page(a_page(items))) == [a_page(items)]


def test_an_item_above_the_limit_has_a_page_of_its_own() -> None:
    pages = list(cut_page(a_page([a_pod(1), a_pod(2)]), 10))

    assert [page.items for page in pages] == [[a_pod(1)], [a_pod(2)]]
