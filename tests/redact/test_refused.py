"""Bytes that no parser takes; their head is kept for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.classify import documents
from tests.redact.examples import compact, redaction

SECRETS = (b"aHVudGVyMg", b"hunter2", b"YWRtaW4", b"hf_QxTz", b"4f1c0f5e")


@pytest.mark.parametrize("name", ["secret", "pod", "job"])
@pytest.mark.parametrize("damage", [b"", b'"', b"\\", b"\xff", b"{", b"}"])
def test_a_torn_document_shows_no_secret(name: str, damage: bytes) -> None:
    raw = compact(getattr(documents, name)())

    for cut in range(0, len(raw), 97):
        for torn in (raw[:cut] + damage, damage + raw[cut:], raw[cut:]):
            masked = redaction.refused(torn[:4096])

            assert not any(secret in masked for secret in SECRETS)
            assert redaction.refused(masked) == masked


def test_what_was_refused_can_be_recognized() -> None:
    masked = redaction.refused(compact(documents.secret())[:-1])

    assert masked.startswith(
        b'{"kind":"Secret","apiVersion":"v1","metadata":{"name":"database",'
        b'"namespace":"train","uid":"77aa2c0e-52c5-4f0e-8f5b-3c1b8d1f4d01"'
    )
    assert masked.endswith(
        b'"data":{"password":"redacted","user":"redacted"},'
        b'"stringData":{"password":"redacted"},"type":"Opaque"'
    )


def test_the_words_of_a_proxy_stay_and_its_tokens_do_not() -> None:
    text = b"upstream timed out, token=abc Bearer eyJhbGciOiJIUzI1NiJ9 sorry"

    assert redaction.refused(text) == (
        b"upstream timed out, redacted Bearer redacted sorry"
    )


@pytest.mark.parametrize(
    ("torn", "expected"),
    [
        (b'{"value":12345,"a":', b'{"value":redacted,"a":'),
        (b'"password":"x":"y"', b'"password":"redacted":"redacted"'),
        (b'{"a":"b\\"c":"d"}', b'{"a":"redacted"redacted":"redacted"}'),
        (b"", b""),
    ],
)
def test_in_doubt_it_is_masked(torn: bytes, expected: bytes) -> None:
    assert redaction.refused(torn) == expected


@given(st.binary(max_size=300))
def test_any_bytes_are_masked_and_none_raise(head: bytes) -> None:
    masked = redaction.refused(head)

    assert redaction.refused(masked) == masked
