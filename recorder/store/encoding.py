"""Documents to payloads and back.

A document that follows a version of the same object in the same partition is
stored as a delta against that object's keyframe, never against another delta,
so that any version takes two decompressions at most. Everything else is
compressed with a dictionary trained for its kind. PostgreSQL compresses no row
under 2 kB, so this is where all of the compression happens.

Deltas of small documents are deflated, which was faster than zstd with a
context for each, and is where zstd's own functions cannot be called.
"""

import zlib
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from recorder.model.zstd import (
    CompressionParameter,
    ZstdCompressor,
    ZstdDecompressor,
    ZstdDict,
)
from recorder.store.deltas import delta_compressor

__all__ = ["DICTIONARY", "Decoder", "Encoded", "Encoder", "RAW"]

RAW = 0
PLAIN = 1
DELTA = 2
SMALL_DELTA = 3
DICTIONARY = 16
"""An encoding of this and more names dictionary ``encoding - 16``."""

RAW_BELOW = 64
"""Bytes; zstd would make a shorter document longer."""

DELTA_FROM = 600
"""Bytes; below this a dictionary does as well as a keyframe."""

SMALL_BELOW = 4096
"""Bytes, from which on zstd is the faster one for a delta as well."""

KEYFRAME_BYTES_MAX = 32 << 20
"""Of keyframes kept at hand: about 4,000 Pods of 8 kB. An object that fell
out gets a new keyframe, which costs disk and nothing else."""

SMALL_KEYFRAME_BYTES_MAX = 16 << 20
"""Of small ones, apart so that Events, of which most come and go once, do not
push out the others: about 13,000 Events."""

DRIFT_MAX = 2
"""A delta longer than half of its keyframe's payload makes a new one. A pod
grows with every step until it runs: with a fourth, every other version of it
would be a keyframe and a pod take a sixth more."""

LEVEL = 3
LEVELS = {"event": 1, "node": 1}
"""By dictionary, where it is another. A Node is mostly names and digests of
images, of which level 3 saves 0.6 % more in three times the time; of an Event
it saves four bytes, in twice the time, because its tables do not stay in the
processor's cache."""

DELTA_LEVEL = 1
"""With the keyframe as prefix, level 3 saves little more and takes longer."""

SMALL_DELTA_LEVEL = 3
SMALL_DELTA_WINDOW = -13
"""Bits of the window, which reaches back over two small documents; negative
for deflate without a header."""
SMALL_DELTA_MEMORY = 4


class Encoded(NamedTuple):
    """A payload and how to read it."""

    payload: bytes
    encoding: int
    base: int | None = None
    """Position of the keyframe of a delta."""


@dataclass(slots=True)
class _Keyframe:
    position: int
    raw: bytes
    payload_bytes: int


class _Keyframes:
    """The keyframes used last, by object."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self.clear()

    def clear(self) -> None:
        self._kept: OrderedDict[Hashable, _Keyframe] = OrderedDict()
        self._bytes = 0

    def get(self, chain: Hashable) -> _Keyframe | None:
        keyframe = self._kept.get(chain)
        if keyframe is not None:
            self._kept.move_to_end(chain)
        return keyframe

    def put(self, chain: Hashable, keyframe: _Keyframe) -> None:
        replaced = self._kept.pop(chain, None)
        if replaced is not None:
            self._bytes -= len(replaced.raw)
        self._kept[chain] = keyframe
        self._bytes += len(keyframe.raw)
        while self._bytes > self._bytes_max:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.raw)


class Encoder:
    """Encodes the documents of one writer, in the order of the log.

    Not safe against a batch that fails: call `forget` then, since keyframes
    of rows that were never written must not be referred to.
    """

    def __init__(
        self,
        dictionaries: Mapping[str, tuple[int, bytes]],
        *,
        keyframe_bytes_max: int = KEYFRAME_BYTES_MAX,
    ) -> None:
        """Take the dictionaries by name: their id and bytes."""
        self._compressors = {
            name: (
                DICTIONARY + number,
                _compressor(content, LEVELS.get(name, LEVEL)),
            )
            for name, (number, content) in dictionaries.items()
        }
        self._plain = (PLAIN, ZstdCompressor(level=LEVEL))
        self._deltas = delta_compressor(DELTA_LEVEL)
        self._keyframes = _Keyframes(keyframe_bytes_max)
        self._small_keyframes = _Keyframes(
            min(keyframe_bytes_max, SMALL_KEYFRAME_BYTES_MAX)
        )

    def forget(self) -> None:
        """Drop every keyframe, as at the start of a partition."""
        self._keyframes.clear()
        self._small_keyframes.clear()

    def encode(
        self,
        raw: bytes,
        *,
        dictionary: str,
        chain: Hashable | None,
        position: int,
    ) -> Encoded:
        """Encode one document.

        Args:
            raw: the document.
            dictionary: the name of the dictionary for its kind; one that is
                not known means none.
            chain: names the object whose versions resemble one another, or
                None. A name that is wrong costs disk and nothing else.
            position: where the document goes.
        """
        if len(raw) < RAW_BELOW:
            return Encoded(raw, RAW)
        if chain is None or len(raw) < DELTA_FROM:
            return self._whole(raw, dictionary)
        small = len(raw) < SMALL_BELOW
        keyframes = self._small_keyframes if small else self._keyframes
        keyframe = keyframes.get(chain)
        if keyframe is not None:
            delta = _small_delta if small else self._deltas.compress
            payload = delta(raw, keyframe.raw)
            if len(payload) * DRIFT_MAX <= keyframe.payload_bytes:
                encoding = SMALL_DELTA if small else DELTA
                return Encoded(payload, encoding, keyframe.position)
        whole = self._whole(raw, dictionary)
        keyframes.put(chain, _Keyframe(position, raw, len(whole.payload)))
        return whole

    def _whole(self, raw: bytes, dictionary: str) -> Encoded:
        encoding, compressor = self._compressors.get(dictionary, self._plain)
        payload = compressor.compress(raw, ZstdCompressor.FLUSH_FRAME)
        return Encoded(payload, encoding)


def _compressor(dictionary: bytes, level: int) -> ZstdCompressor:
    return ZstdCompressor(
        options={
            CompressionParameter.compression_level: level,
            # The row says which dictionary it is; four bytes need not.
            CompressionParameter.dict_id_flag: 0,
        },
        zstd_dict=ZstdDict(dictionary).as_digested_dict,
    )


def _small_delta(raw: bytes, keyframe: bytes) -> bytes:
    compressor = zlib.compressobj(
        SMALL_DELTA_LEVEL,
        zlib.DEFLATED,
        SMALL_DELTA_WINDOW,
        SMALL_DELTA_MEMORY,
        zlib.Z_DEFAULT_STRATEGY,
        keyframe,
    )
    return compressor.compress(raw) + compressor.flush()


class Decoder:
    """Decodes payloads; the dictionaries are given once."""

    def __init__(self, dictionaries: Mapping[int, bytes]) -> None:
        """Take the dictionaries by id."""
        self._dictionaries: dict[int, ZstdDict] = {}
        for number, content in dictionaries.items():
            # One that was replaced by what is none is as if it were gone.
            with suppress(ValueError):
                self._dictionaries[number] = ZstdDict(content)

    def decode(
        self, payload: bytes, encoding: int, keyframe: bytes | None = None
    ) -> bytes:
        """Return the document; a delta needs its keyframe's document.

        Raises:
            ZstdError: the payload is none of its encoding, or zlib.error.
            KeyError: a dictionary or the keyframe is not there.
        """
        if encoding == RAW:
            return payload
        if encoding == PLAIN:
            return ZstdDecompressor().decompress(payload)
        if encoding in {DELTA, SMALL_DELTA}:
            if keyframe is None:
                msg = "a delta is read with its keyframe"
                raise KeyError(msg)
            if encoding == SMALL_DELTA:
                return zlib.decompressobj(
                    SMALL_DELTA_WINDOW, zdict=keyframe
                ).decompress(payload)
            prefix = ZstdDict(keyframe, is_raw=True).as_prefix
            return ZstdDecompressor(zstd_dict=prefix).decompress(payload)
        dictionary = self._dictionaries[encoding - DICTIONARY]
        return ZstdDecompressor(
            zstd_dict=dictionary.as_digested_dict
        ).decompress(payload)
