"""What facts tell to bytes and back: JSON, compressed where that is shorter.

The first byte is 0 before JSON as it is, and else one more than the number of
the dictionary that the rest was deflated with: at a hundred bytes deflate does
as well as zstd, and is read in a fifteenth of the time, which zstd takes for
its context.
"""

import zlib
from collections.abc import Iterable, Mapping
from operator import itemgetter
from weakref import WeakKeyDictionary
from zlib import decompressobj

import msgspec

from recorder.model.fact import DETAILS
from recorder.model.facts import Detail
from recorder.store.codes import FACTS
from recorder.store.engine import Engine, fetch
from recorder.store.statement import question

__all__ = [
    "DICTIONARIES",
    "COMPRESSED_FROM",
    "DetailDecoder",
    "DetailEncoder",
    "deflater",
    "detail_decoder",
    "told_json",
]

COMPRESSED_FROM = 40
"""Bytes; what is shorter would hardly become so."""

LEVEL = 6
"""Level 3 takes 1.8 us less for a fact, and 6 % more bytes."""

WINDOW = -14
"""Bits, over the whole dictionary, without a header. Twice as large a window
makes details 2 % shorter, and a compressor twice as large, which is copied for
each."""

READ_WINDOW = -15
"""The largest that there is, so that any is read."""

MEMORY = 5
"""Of hash tables, which are copied for each fact."""

DICTIONARIES = question("select dictionary_id, bytes from recorder.dictionary")

_encoding = itemgetter(0)
RAW = 0
_RAW = bytes([RAW])
_READ = {
    code: msgspec.json.Decoder(DETAILS[kind]).decode
    for code, kind in FACTS.items()
}


class DetailEncoder:
    """Encodes what facts tell, by the dictionary for it, if there is one."""

    def __init__(self, dictionaries: Mapping[str, tuple[int, bytes]]) -> None:
        """Take the dictionaries by name: their id and bytes."""
        self._begun = None
        if "fact" in dictionaries:
            number, content = dictionaries["fact"]
            self._encoding = bytes([number + 1])
            self._begun = deflater(content)

    def encode(self, told: bytes) -> bytes:
        """Return what is stored for JSON."""
        if self._begun is None or len(told) < COMPRESSED_FROM:
            return _RAW + told
        compressor = self._begun.copy()
        return self._encoding + compressor.compress(told) + compressor.flush()


def deflater(dictionary: bytes) -> "zlib._Compress":
    """Return a compressor that knows a dictionary, to be copied."""
    return zlib.compressobj(
        LEVEL,
        zlib.DEFLATED,
        WINDOW,
        MEMORY,
        zlib.Z_DEFAULT_STRATEGY,
        dictionary,
    )


def told_json(stored: bytes, dictionaries: Mapping[int, bytes]) -> bytes:
    """Return the JSON of a detail.

    ``dictionaries`` go by the byte that names them.
    """
    encoding, told = stored[0], stored[1:]
    if not encoding:
        return told
    inflater = decompressobj(READ_WINDOW, dictionaries[encoding])
    return inflater.decompress(told)


class DetailDecoder:
    """Decodes what facts tell; remembers the dictionaries of a database."""

    def __init__(self) -> None:
        self._dictionaries: dict[int, bytes] = {}
        self._known = {RAW}

    async def know(self, engine: Engine, stored: Iterable[bytes]) -> None:
        """Read the dictionaries that some details name, if one is new."""
        named = {detail[0] for detail in stored} - {RAW}
        if named <= self._dictionaries.keys():
            return
        rows = await fetch(engine, "read the dictionaries", DICTIONARIES)
        self._dictionaries = {number + 1: content for number, content in rows}

    def decode(self, stored: bytes, kind: int) -> Detail:
        """Return what a fact of a kind, by its number, tells."""
        return _READ[kind](told_json(stored, self._dictionaries))


_decoders: WeakKeyDictionary[Engine, DetailDecoder] = WeakKeyDictionary()


def detail_decoder(engine: Engine) -> DetailDecoder:
    """Return the decoder for the database of an engine."""
    return _decoders.setdefault(engine, DetailDecoder())
