"""Deltas are read by the module's own decompressor, whatever made them."""

import ctypes
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.model.zstd import ZstdDecompressor, ZstdDict, ZstdError
from recorder.store.deltas import (
    DeltaCompressor,
    PlainDeltaCompressor,
    delta_compressor,
)

PLAIN = PlainDeltaCompressor(1)
FAST = delta_compressor(1)


def read(delta: bytes, prefix: bytes) -> bytes:
    given = ZstdDict(prefix, is_raw=True).as_prefix
    return ZstdDecompressor(zstd_dict=given).decompress(delta)


def test_the_library_of_this_python_is_called_on_one_context() -> None:
    assert isinstance(FAST, DeltaCompressor)


@given(
    prefix=st.binary(min_size=8, max_size=4000),
    parts=st.lists(st.binary(max_size=300), max_size=4),
)
def test_a_delta_is_read_with_its_prefix(
    prefix: bytes, parts: list[bytes]
) -> None:
    half = len(prefix) // 2
    raw = prefix[:half].join([*parts, prefix[half:]])

    delta = FAST.compress(raw, prefix)

    assert read(delta, prefix) == raw
    assert delta == PLAIN.compress(raw, prefix)


@pytest.mark.parametrize("size", [0, 1, 70_000, 3_000_000])
def test_a_document_of_any_size_has_room(size: int) -> None:
    random = Random(size)
    prefix, raw = random.randbytes(9_000), random.randbytes(size)

    for _ in range(2):
        assert read(FAST.compress(raw, prefix), prefix) == raw


def test_prefixes_do_not_last() -> None:
    one, again, other = (Random(seed).randbytes(9_000) for seed in (1, 1, 2))
    small = FAST.compress(one, again)

    assert len(small) < 100
    assert len(FAST.compress(one, other)) > len(one)
    assert FAST.compress(one, again) == small


def test_without_the_functions_each_delta_has_a_context_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without(_: str) -> ctypes.PyDLL:
        return ctypes.pythonapi

    monkeypatch.setattr(ctypes, "PyDLL", without)
    plain = delta_compressor(1)

    assert isinstance(plain, PlainDeltaCompressor)
    assert read(plain.compress(b"document" * 9, b"prefix__"), b"prefix__")


def test_an_error_of_zstd_is_raised() -> None:
    assert isinstance(FAST, DeltaCompressor)
    with pytest.raises(ZstdError, match="zstd says error"):
        FAST._check(2**64 - 70)
