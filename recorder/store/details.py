"""The details of facts as bytes: JSON, compressed where that is shorter.

The first byte is 0 before plain JSON, else the number of the dictionary plus
one, before deflated JSON. At a hundred bytes deflate compresses as well as
zstd, and decompresses fifteen times as fast, because zstd needs a context.
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

COMPRESSED_FROM = 40
"""In bytes; compression hardly makes shorter ones smaller."""

LEVEL = 6
"""Level 3 saves 1.8 us for a fact and costs 6 % more bytes."""

WINDOW = -14
"""In bits; it covers the dictionary, and is negative to omit the header. A
window of twice the size makes details 2 % shorter and doubles the size of the
compressor, which is copied for each."""

READ_WINDOW = -15
"""The largest, so that details with any window can be read."""

MEMORY = 5
"""The size of hash tables, which are copied for each fact."""

DICTIONARIES = question("select dictionary_id, bytes from recorder.dictionary")

_encoding = itemgetter(0)
RAW = 0
_RAW = bytes([RAW])
_READ = {
    code: msgspec.json.Decoder(DETAILS[kind]).decode
    for code, kind in FACTS.items()
}


class DetailEncoder:
    """Encodes details, with the dictionary for facts if there is one."""

    def __init__(self, dictionaries: Mapping[str, tuple[int, bytes]]) -> None:
        """Take the dictionaries by name, with id and bytes."""
        self._begun = None
        if "fact" in dictionaries:
            number, content = dictionaries["fact"]
            self._encoding = bytes([number + 1])
            self._begun = deflater(content)

    def encode(self, detail: bytes) -> bytes:
        """Return the stored form of a detail in JSON."""
        if self._begun is None or len(detail) < COMPRESSED_FROM:
            return _RAW + detail
        compressor = self._begun.copy()
        begun = self._encoding + compressor.compress(detail)
        return begun + compressor.flush()


def deflater(dictionary: bytes) -> "zlib._Compress":
    """Return a compressor with a dictionary; copy it for each detail."""
    return zlib.compressobj(
        LEVEL,
        zlib.DEFLATED,
        WINDOW,
        MEMORY,
        zlib.Z_DEFAULT_STRATEGY,
        dictionary,
    )


def detail_json(stored: bytes, dictionaries: Mapping[int, bytes]) -> bytes:
    """Return the JSON of a stored detail.

    ``dictionaries`` are by the first byte, which names them.
    """
    encoding, content = stored[0], stored[1:]
    if not encoding:
        return content
    inflater = decompressobj(READ_WINDOW, dictionaries[encoding])
    return inflater.decompress(content)


class DetailDecoder:
    """Decodes details, and caches the dictionaries of a database."""

    def __init__(self) -> None:
        self._dictionaries: dict[int, bytes] = {}
        self._known = {RAW}

    async def know(self, engine: Engine, stored: Iterable[bytes]) -> None:
        """Read the dictionaries if details name one that is not known."""
        named = {detail[0] for detail in stored} - {RAW}
        if named <= self._dictionaries.keys():
            return
        rows = await fetch(engine, "read the dictionaries", DICTIONARIES)
        self._dictionaries = {number + 1: content for number, content in rows}

    def decode(self, stored: bytes, kind: int) -> Detail:
        """Return the detail of a fact; the kind is a number."""
        return _READ[kind](detail_json(stored, self._dictionaries))


_decoders: WeakKeyDictionary[Engine, DetailDecoder] = WeakKeyDictionary()


def detail_decoder(engine: Engine) -> DetailDecoder:
    """Return the decoder of the database of an engine."""
    return _decoders.setdefault(engine, DetailDecoder())
