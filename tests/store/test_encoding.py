"""Documents to payloads and back, byte for byte."""

import random
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.store.encoding import (
    DELTA,
    DICTIONARY,
    DRIFT_MAX,
    PLAIN,
    RAW,
    SMALL_BELOW,
    SMALL_DELTA,
    Decoder,
    Encoded,
    Encoder,
)

SHIPPED = 3
TRAINED = (files("recorder.store") / "dictionaries/event.zdict").read_bytes()


def an_encoder(**options: int) -> Encoder:
    return Encoder({"event": (SHIPPED, TRAINED)}, **options)


def text(size: int, seed: int = 0) -> bytes:
    """Text that does not compress, as little as random hexadecimals do."""
    return random.Random(seed).randbytes(size // 2).hex().encode()


class Log:
    """The input of an encoder, decoded from its output."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._decoder = Decoder({SHIPPED: TRAINED})
        self._decoded: dict[int, bytes] = {}

    def encode(self, raw: bytes, *, chain: object = "a") -> Encoded:
        position = len(self._decoded) + 1
        encoded = self._encoder.encode(
            raw, dictionary="event", chain=chain, position=position
        )
        keyframe = None
        if encoded.base is not None:
            keyframe = self._decoded[encoded.base]
        decoded = self._decoder.decode(
            encoded.payload, encoded.encoding, keyframe
        )
        assert decoded == raw
        self._decoded[position] = decoded
        return encoded


@pytest.fixture
def log() -> Log:
    return Log(an_encoder())


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.binary(max_size=2000),
            st.integers(0, 3 * SMALL_BELOW),
        ),
        max_size=20,
    )
)
def test_every_document_comes_back(
    given: list[tuple[int, bytes, int]],
) -> None:
    log = Log(an_encoder(keyframe_bytes_max=20_000))
    for chain, differs, size in given:
        log.encode(text(size, chain) + differs, chain=chain)


def test_what_is_tiny_stays_as_it_is(log: Log) -> None:
    assert log.encode(b"{}").encoding == RAW


def test_a_first_version_is_compressed_with_its_dictionary(log: Log) -> None:
    assert log.encode(text(900)).encoding == DICTIONARY + SHIPPED


def test_without_a_dictionary_it_is_compressed_plainly() -> None:
    encoded = Encoder({}).encode(
        text(900), dictionary="event", chain=None, position=1
    )

    assert encoded.encoding == PLAIN


@pytest.mark.parametrize(
    ("size", "encoding"), [(1200, SMALL_DELTA), (12_000, DELTA)]
)
def test_later_versions_are_deltas_against_the_first(
    log: Log, size: int, encoding: int
) -> None:
    log.encode(text(size))
    later = [log.encode(text(size) + b'"count":%d' % n) for n in range(5)]

    assert {(made.encoding, made.base) for made in later} == {(encoding, 1)}
    assert max(len(made.payload) for made in later) < 60


@pytest.mark.parametrize("size", [1200, 12_000])
def test_a_version_that_drifted_is_a_keyframe(log: Log, size: int) -> None:
    log.encode(text(size))

    drifted = text(size - size // DRIFT_MAX * 2) + text(
        size // DRIFT_MAX * 2, seed=1
    )

    assert log.encode(drifted).base is None
    assert log.encode(drifted + b" ").base == 2


def test_an_object_that_outgrows_small_ones_gets_a_keyframe(log: Log) -> None:
    log.encode(text(SMALL_BELOW - 2))

    assert log.encode(text(SMALL_BELOW)).base is None
    assert log.encode(text(SMALL_BELOW) + b" ").base == 2


def test_objects_do_not_mix(log: Log) -> None:
    log.encode(text(1200), chain="a")

    assert log.encode(text(1200), chain="b").base is None


def test_what_was_forgotten_is_not_referred_to() -> None:
    encoder = an_encoder()
    log = Log(encoder)
    log.encode(text(1200))
    log.encode(text(12_000))
    encoder.forget()

    assert log.encode(text(1200)).base is None
    assert log.encode(text(12_000)).base is None


@pytest.mark.parametrize("size", [1200, 12_000])
def test_keyframes_are_bounded_and_the_oldest_go(size: int) -> None:
    log = Log(an_encoder(keyframe_bytes_max=3 * size))
    for chain in range(4):
        log.encode(text(size, chain), chain=chain)

    assert log.encode(text(size, 3), chain=3).base == 4
    assert log.encode(text(size, 0), chain=0).base is None
