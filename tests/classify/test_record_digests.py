"""Which audit records are the same."""

import orjson
import pytest

from recorder.facts.classify import record_digests
from tests.audit.receiving import a_record

RECORD = a_record("a", requestObject={"x": 1}, responseObject={"y": [1, 2]})
TRUNCATED = {
    **a_record("a"),
    "annotations": {"audit.k8s.io/truncated": "true"},
}


def test_order_space_and_what_kind_it_is_change_nothing() -> None:
    of_a_file = orjson.dumps(
        {"kind": "Event", "apiVersion": "audit.k8s.io/v1", **RECORD}
    )
    turned = orjson.dumps(
        dict(reversed(RECORD.items())), option=orjson.OPT_INDENT_2
    )

    assert record_digests(of_a_file) == record_digests(turned)


@pytest.mark.parametrize("name", list(RECORD))
def test_every_member_counts(name: str) -> None:
    changed = orjson.dumps({**RECORD, name: "another"})

    assert (
        record_digests(changed).whole
        != record_digests(orjson.dumps(RECORD)).whole
    )


def test_a_truncated_record_is_its_whole_without_bodies() -> None:
    whole = record_digests(orjson.dumps(RECORD))
    truncated = record_digests(orjson.dumps(TRUNCATED))
    annotated = record_digests(
        orjson.dumps({**RECORD, "annotations": {"a": "b"}})
    )

    assert truncated.is_truncated
    assert not whole.is_truncated
    assert truncated.bare == whole.bare
    assert truncated.whole != whole.whole
    assert annotated.bare != whole.bare


DEEP = b'{"requestObject":' + b"[" * 900 + b"]" * 900 + b"}"


@pytest.mark.parametrize("raw", [b"", b"{", b"1", b"[]", b"\xff", DEEP])
def test_what_is_no_record_is_known_by_its_bytes(raw: bytes) -> None:
    assert record_digests(raw).bare is None
    assert record_digests(raw) == record_digests(raw)
    assert record_digests(raw) != record_digests(raw + b" ")
