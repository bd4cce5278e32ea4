"""Audit records of one cluster, as other clusters would have them.

An identically repeated record compresses like no other: the log holds the same
one already. So for more records than a cluster made, another cluster makes the
same requests, for objects with names, UIDs and versions of its own, on other
nodes and at other times.
"""

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import orjson

from bench.harvest import RECORDS
from recorder.model.zstd import decompress

__all__ = ["harvested", "varied"]

UUID = re.compile(
    rb"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
)
NODE = re.compile(rb"\bgpu-00(\d)\b")
SUFFIX = re.compile(
    rb"-([bcdfghjklmnpqrstvwxz2456789]{5,10})(?=[\"\s./\\:?-])"
)
"""As the API server and controllers end the names that they make."""

WORK = re.compile(rb"\bwork-(\d)")
VERSION = re.compile(rb'("resourceVersion\\?": ?\\?")(\d+)')
TIME = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z")
SITES = (b"node", b"ip-10-20", b"worker-a", b"g", b"dgx", b"h100", b"rack7-n")


def harvested() -> list[bytes]:
    """Return the records of the harvested cluster, in its order."""
    return decompress(RECORDS.read_bytes()).splitlines()


def varied(records: Sequence[bytes], seed: str) -> Iterator[bytes]:
    """Yield records as another cluster would have made them.

    The same seed gives the same cluster, with the same objects.
    """
    chance = random.Random(seed)
    site = chance.choice(SITES)
    later = timedelta(seconds=chance.randrange(10_000_000), milliseconds=1)
    versions = chance.randrange(10_000, 90_000_000)
    key = seed.encode()

    def uuid(found: re.Match[bytes]) -> bytes:
        digits = _digest(key, found[0], 32)
        parts = digits[:8], digits[8:12], digits[12:16], digits[16:20]
        return b"-".join((*parts, digits[20:]))

    def suffix(found: re.Match[bytes]) -> bytes:
        made = _digest(key, found[1], len(found[1]))
        return b"-" + made.translate(LETTERS)

    def moved(found: re.Match[bytes]) -> bytes:
        text = found[0].decode()
        form = "%Y-%m-%dT%H:%M:%S" + (".%f" if "." in text else "")
        return f"{datetime.fromisoformat(text) + later:{form}}Z".encode()

    for raw in records:
        record = UUID.sub(uuid, raw)
        record = SUFFIX.sub(suffix, record)
        record = NODE.sub(lambda found: site + b"-00" + found[1], record)
        record = WORK.sub(lambda found: b"work-%b-" % key + found[1], record)
        record = VERSION.sub(
            lambda found: found[1] + b"%d" % (int(found[2]) + versions), record
        )
        record = TIME.sub(moved, record)
        orjson.loads(record)
        yield record


LETTERS = bytes.maketrans(b"0123456789abcdef", b"bcdfghjklmnpqrst")


def _digest(key: bytes, text: bytes, length: int) -> bytes:
    return hashlib.blake2b(text, key=key[:64]).hexdigest()[:length].encode()
