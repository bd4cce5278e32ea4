"""Encodes documents as payloads, and decodes them.

A document that follows a version of the same object in the same partition is
stored as a delta to the keyframe of the object, never to another delta, so
that each version takes at most two decompressions. Other documents are
compressed with a dictionary for their kind. PostgreSQL does not compress rows
under 2 kB, so all compression is done here.

Deltas of small documents are deflated: this is faster than zstd with a context
for each, where the functions of zstd cannot be called.
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

RAW = 0
PLAIN = 1
DELTA = 2
SMALL_DELTA = 3
DICTIONARY = 16
"""From here on an encoding is the number of a dictionary plus 16."""

RAW_BELOW = 64
"""In bytes; zstd would make a shorter document longer."""

DELTA_FROM = 600
"""In bytes; below this a dictionary is as good as a keyframe."""

SMALL_BELOW = 4096
"""In bytes; from here on zstd is faster for a delta, too."""

KEYFRAME_BYTES_MAX = 32 << 20
"""The cache of keyframes: about 4,000 Pods of 8 kB. An object that is not in
the cache gets a new keyframe, which only costs disk."""

SMALL_KEYFRAME_BYTES_MAX = 16 << 20
"""The cache of small keyframes, about 13,000 Events. It is separate because
most Events have one version, and would displace other keyframes."""

DRIFT_MAX = 2
"""A delta longer than half of its keyframe's payload makes a new keyframe. A
Pod grows with each step until it runs: with a fourth, every other version
would be a keyframe, and Pods would need a sixth more room."""

LEVEL = 3
LEVELS = {"event": 1, "node": 1}
"""By dictionary, if it differs. A Node is mostly names and digests of images:
level 3 saves 0.6 % and takes three times as long. For an Event it saves four
bytes and takes twice as long, because its tables leave the processor's
cache."""

DELTA_LEVEL = 1
"""With a keyframe as prefix, level 3 saves little and takes longer."""

SMALL_DELTA_LEVEL = 3
SMALL_DELTA_WINDOW = -13
"""In bits; it covers two small documents, and is negative to omit the
header."""
SMALL_DELTA_MEMORY = 4


class Encoded(NamedTuple):
    """A payload, and how to decode it."""

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
    """A cache of the keyframes used last, by object."""

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

    Call `forget` after a batch that failed: no delta may refer to a keyframe
    that was not written.
    """

    def __init__(
        self,
        dictionaries: Mapping[str, tuple[int, bytes]],
        *,
        keyframe_bytes_max: int = KEYFRAME_BYTES_MAX,
    ) -> None:
        """Take the dictionaries by name, with id and bytes."""
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
        """Forget all keyframes, as at the start of a partition."""
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
            dictionary: the name of the dictionary for its kind; an unknown
                name means none.
            chain: identifies the object, whose versions are similar, or
                None. A wrong one only costs disk.
            position: of the entry.
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
            # The row names the dictionary: this saves four bytes.
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
    """Decodes payloads."""

    def __init__(self, dictionaries: Mapping[int, bytes]) -> None:
        """Take the dictionaries by id."""
        self._dictionaries: dict[int, ZstdDict] = {}
        for number, content in dictionaries.items():
            # A dictionary that was overwritten by garbage counts as missing.
            with suppress(ValueError):
                self._dictionaries[number] = ZstdDict(content)

    def decode(
        self, payload: bytes, encoding: int, keyframe: bytes | None = None
    ) -> bytes:
        """Return the document; a delta needs the document of its keyframe.

        Raises:
            ZstdError: the payload is damaged; zlib.error for a small delta.
            KeyError: a dictionary or the keyframe is missing.
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
