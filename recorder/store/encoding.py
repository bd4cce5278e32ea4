"""Documents to payloads and back.

A document that follows a version of the same object in the same partition is
stored as a zstd delta against that object's keyframe, never against another
delta, so that any version takes two decompressions at most. Everything else is
compressed with a dictionary trained for its kind. PostgreSQL compresses no row
under 2 kB, so this is where all of the compression happens.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from recorder.zstd import ZstdCompressor, ZstdDecompressor, ZstdDict

__all__ = ["DICTIONARY", "Decoder", "Encoded", "Encoder", "RAW"]

RAW = 0
PLAIN = 1
DELTA = 2
DICTIONARY = 16
"""An encoding of this and more names dictionary ``encoding - 16``."""

RAW_BELOW = 64
"""Bytes; zstd would make a shorter document longer."""

DELTA_FROM = 600
"""Bytes; below this a dictionary does as well as a keyframe."""

KEYFRAME_BYTES_MAX = 32 << 20
"""Of keyframes kept at hand: about 6,000 Pods of 5 kB. An object that fell
out gets a new keyframe, which costs disk and nothing else."""

DRIFT_MAX = 4
"""A delta longer than a fourth of its keyframe's payload makes a new one."""

LEVEL = 3
DELTA_LEVEL = 1
"""With the keyframe as prefix, level 3 saves no more and takes twice as
long."""


@dataclass(frozen=True, slots=True)
class Encoded:
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
                ZstdCompressor(
                    level=LEVEL,
                    zstd_dict=ZstdDict(content).as_digested_dict,
                ),
            )
            for name, (number, content) in dictionaries.items()
        }
        self._plain = (PLAIN, ZstdCompressor(level=LEVEL))
        self._keyframes: OrderedDict[int, _Keyframe] = OrderedDict()
        self._keyframe_bytes = 0
        self._keyframe_bytes_max = keyframe_bytes_max

    def forget(self) -> None:
        """Drop every keyframe, as at the start of a partition."""
        self._keyframes.clear()
        self._keyframe_bytes = 0

    def encode(
        self, raw: bytes, *, dictionary: str, chain: int | None, position: int
    ) -> Encoded:
        """Encode one document.

        Args:
            raw: the document.
            dictionary: the name of the dictionary for its kind; one that is
                not known means none.
            chain: the object whose versions resemble one another, or None.
            position: where the document goes.
        """
        if len(raw) < RAW_BELOW:
            return Encoded(raw, RAW)
        if chain is None or len(raw) < DELTA_FROM:
            return self._whole(raw, dictionary)
        keyframe = self._keyframes.get(chain)
        if keyframe is not None:
            self._keyframes.move_to_end(chain)
            payload = _delta(raw, keyframe.raw)
            if len(payload) * DRIFT_MAX <= keyframe.payload_bytes:
                return Encoded(payload, DELTA, keyframe.position)
        whole = self._whole(raw, dictionary)
        self._remember(
            chain, _Keyframe(position, raw, len(whole.payload)), keyframe
        )
        return whole

    def _whole(self, raw: bytes, dictionary: str) -> Encoded:
        encoding, compressor = self._compressors.get(dictionary, self._plain)
        payload = compressor.compress(raw, ZstdCompressor.FLUSH_FRAME)
        return Encoded(payload, encoding)

    def _remember(
        self, chain: int, keyframe: _Keyframe, replaced: _Keyframe | None
    ) -> None:
        if replaced is not None:
            self._keyframe_bytes -= len(replaced.raw)
        self._keyframes[chain] = keyframe
        self._keyframe_bytes += len(keyframe.raw)
        while self._keyframe_bytes > self._keyframe_bytes_max:
            _, oldest = self._keyframes.popitem(last=False)
            self._keyframe_bytes -= len(oldest.raw)


def _delta(raw: bytes, keyframe: bytes) -> bytes:
    prefix = ZstdDict(keyframe, is_raw=True).as_prefix
    compressor = ZstdCompressor(level=DELTA_LEVEL, zstd_dict=prefix)
    return compressor.compress(raw, ZstdCompressor.FLUSH_FRAME)


class Decoder:
    """Decodes payloads; the dictionaries are given once."""

    def __init__(self, dictionaries: Mapping[int, bytes]) -> None:
        """Take the dictionaries by id."""
        self._dictionaries = {
            number: ZstdDict(content)
            for number, content in dictionaries.items()
        }

    def decode(
        self, payload: bytes, encoding: int, keyframe: bytes | None = None
    ) -> bytes:
        """Give the document; a delta needs its keyframe's document."""
        if encoding == RAW:
            return payload
        if encoding == PLAIN:
            return ZstdDecompressor().decompress(payload)
        if encoding == DELTA:
            assert keyframe is not None, "a delta is read with its keyframe"
            prefix = ZstdDict(keyframe, is_raw=True).as_prefix
            return ZstdDecompressor(zstd_dict=prefix).decompress(payload)
        dictionary = self._dictionaries[encoding - DICTIONARY]
        return ZstdDecompressor(
            zstd_dict=dictionary.as_digested_dict
        ).decompress(payload)
