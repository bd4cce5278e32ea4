"""Files of audit records are unpacked however they are packed, and cut."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from recorder.model import zstd
from recorder.sources.audit import AuditImport
from tests.audit.test_exports import RECORD, TEXT
from tests.audit.test_tailing import Kept


def zipped(raw: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/", b"")
        archive.writestr("logs/audit.log", raw)
    return out.getvalue()


def tarred(raw: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("logs/audit.log")
        member.size = len(raw)
        archive.addfile(member, io.BytesIO(raw))
    return out.getvalue()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": lambda raw: bz2.compress(raw, 1),
    "xz": lzma.compress,
    "zstd": zstd.compress,
    "gzip, twice": lambda raw: (
        gzip.compress(raw[:100]) + gzip.compress(raw[100:])
    ),
    "UTF-16": lambda raw: raw.decode().encode("utf-16"),
    "UTF-16 without a mark": lambda raw: raw.decode().encode("utf-16-be"),
    "a mark": lambda raw: b"\xef\xbb\xbf" + raw,
    "zip": zipped,
    "tar": tarred,
    "tar, compressed": lambda raw: gzip.compress(tarred(raw)),
    "gzip in tar": lambda raw: tarred(gzip.compress(raw)),
    "zip in gzip": lambda raw: gzip.compress(zipped(raw)),
}


@pytest.mark.parametrize("way", PACKED)
async def test_files_are_unpacked_however_they_are_packed(
    tmp_path: Path, way: str
) -> None:
    path, kept = tmp_path / "audit", Kept()
    path.write_bytes(PACKED[way](f"{TEXT}\n".encode() * 40))
    source = AuditImport([path])
    await source.run(kept, kept)

    assert kept.records() == [TEXT.encode()] * 40
    assert source.files[0].is_whole


@pytest.mark.parametrize("way", ["gzip", "bzip2", "xz", "zstd", "zip", "tar"])
async def test_of_a_file_that_was_cut_the_readable_half_is_taken(
    tmp_path: Path, way: str
) -> None:
    lines = [
        json.dumps(RECORD | {"auditID": f"{n}-{n * 7919}"}) for n in range(900)
    ]
    whole = PACKED[way](("\n".join(lines) + "\n").encode())
    path, kept = tmp_path / "audit", Kept()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    source = AuditImport([path])
    await source.run(kept, kept)

    (file,) = source.files
    assert not file.is_whole
    assert kept.records() == [line.encode() for line in lines[: file.records]]
    if way == "zip":  # its directory is at its end
        assert "cannot be read" in str(file.trouble)
        return
    assert 0 < file.records < len(lines)
    assert file.cut == 1
    (lost,) = kept.lost()
    assert lost.proved.startswith("audit: ")
    why = "unexpected end" if way == "tar" else "the compressed data ends too"
    assert why in lost.proved


def with_checksum(raw: bytes) -> bytes:
    return zstd.compress(
        raw, options={zstd.CompressionParameter.checksum_flag: True}
    )


WRONG_SUMS: dict[str, tuple[Callable[[bytes], bytes], int]] = {
    "gzip": (gzip.compress, -8),
    "gzip, its length": (gzip.compress, -4),
    "bzip2": (PACKED["bzip2"], -4),
    "xz": (lzma.compress, -25),
    "zstd": (with_checksum, -4),
    "gzip in tar": (gzip.compress, -8),
    "xz in gzip": (lzma.compress, -25),
    "tar in gzip": (lambda raw: gzip.compress(tarred(raw)), -8),
}
"""How a file is compressed, and a byte of the checksum behind its data."""


@pytest.mark.parametrize("way", WRONG_SUMS)
async def test_what_precedes_a_wrong_checksum_is_taken(
    tmp_path: Path, way: str
) -> None:
    """All of it, once, also if the last line has no newline."""
    pack, place = WRONG_SUMS[way]
    lines = [
        json.dumps(RECORD | {"auditID": f"{n}-{n * 7919}"}).encode()
        for n in range(200)
    ]
    packed = bytearray(pack(b"\n".join(lines)))
    packed[place] ^= 1
    outer: dict[str, Callable[[bytes], bytes]] = {
        "gzip in tar": tarred,
        "xz in gzip": gzip.compress,
    }
    path, kept = tmp_path / "audit", Kept()
    path.write_bytes(outer.get(way, bytes)(bytes(packed)))
    source = AuditImport([path])
    await source.run(kept, kept)

    assert kept.records() == lines
    (file,) = source.files
    assert (file.records, file.refused, file.cut) == (200, 0, 1)
    assert not file.is_whole
    (lost,) = kept.lost()
    assert "the compressed data is damaged" in lost.proved
    again = AuditImport([path])
    await again.run(kept, kept)
    assert kept.records() == lines
