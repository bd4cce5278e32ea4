"""A tape whose bytes were altered: a prefix of what was recorded, no more.

An altered letter in a plain tape looks like what was written; the checksums of
a compressed one reveal it. These are the properties; the single kinds of bad
input are in `test_bad_input`.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recorder.model.zstd import (
    CompressionParameter,
    ZstdCompressor,
    ZstdDecompressor,
    ZstdError,
    compress,
)
from recorder.sources.tape import TapeDamagedError, writer
from tests.tape.builders import (
    a_frame,
    one_of_each,
    read_up_to_the_trouble,
    write,
)

OBSERVATIONS = [*one_of_each(), *(a_frame(n, 50) for n in range(20, 60))]


@st.composite
def damages(draw: st.DrawFn) -> tuple[str, float, int, bytes]:
    """A deed, where to do it, how far it reaches, and what to put there."""
    return (
        draw(st.sampled_from(["flip", "cut out", "double", "write over"])),
        draw(st.floats(0, 1, exclude_max=True)),
        draw(st.integers(1, 300)),
        draw(st.binary(min_size=1, max_size=64)),
    )


def damaged(
    whole: bytes, damage: tuple[str, float, int, bytes]
) -> tuple[bytes, int]:
    """Return the altered bytes, and where they begin to differ."""
    deed, where, length, other = damage
    start = int(where * len(whole))
    before, span = whole[:start], whole[start : start + length]
    after = whole[start + length :]
    match deed:
        case "flip":
            bit = bytes([whole[start] ^ (1 << (length % 8))])
            return before + bit + whole[start + 1 :], start
        case "cut out":
            return before + after, start
        case "double":
            return before + span + span + after, start
        case _:
            return before + other + whole[start + len(other) :], start


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damage")


@pytest.fixture(scope="module")
def compressed(folder: Path) -> bytes:
    """A tape in about a dozen zstd frames."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "_FRAME_BYTES_MAX", 1000)
        return write(folder / "a.tape.jsonl.zst", OBSERVATIONS).read_bytes()


@pytest.fixture(scope="module")
def plain(folder: Path) -> bytes:
    return write(folder / "a.tape.jsonl", OBSERVATIONS).read_bytes()


# The same examples every time: a damage that no checksum covers can be found,
# given time, and would fail a change that has nothing to do with it.
@settings(max_examples=400, derandomize=True, deadline=None)
@given(damage=damages())
def test_a_compressed_tape_never_gives_what_was_not_recorded(
    folder: Path, compressed: bytes, damage: tuple[str, float, int, bytes]
) -> None:
    path = folder / "damaged"
    path.write_bytes(damaged(compressed, damage)[0])

    seen, trouble = read_up_to_the_trouble(path)

    assert seen == OBSERVATIONS[: len(seen)]
    # Some bits of zstd mean nothing to the content.
    assert trouble is not None or seen == OBSERVATIONS


@settings(max_examples=400, derandomize=True, deadline=None)
@given(damage=damages())
def test_a_plain_tape_gives_every_line_before_the_damage(
    folder: Path, plain: bytes, damage: tuple[str, float, int, bytes]
) -> None:
    altered, start = damaged(plain, damage)
    path = folder / "damaged"
    path.write_bytes(altered)

    seen, _ = read_up_to_the_trouble(path)

    before = max(0, plain[:start].count(b"\n") - 1)
    assert seen[:before] == OBSERVATIONS[:before]


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(content=st.binary(max_size=400))
def test_any_bytes_at_all_are_read_or_refused(
    folder: Path, plain: bytes, content: bytes
) -> None:
    header = plain[: plain.index(b"\n") + 1]
    for beginning in (b"", b"{", b"\x28\xb5\x2f\xfd", header):
        path = folder / "damaged"
        path.write_bytes(beginning + content)

        read_up_to_the_trouble(path)


def test_damage_in_one_zstd_frame_spares_all_before(
    tmp_path: Path, compressed: bytes
) -> None:
    """Zeroes in the middle, as a lost sector leaves them."""
    path = tmp_path / "a.tape.jsonl.zst"
    middle = len(compressed) // 2
    path.write_bytes(
        compressed[:middle] + bytes(16) + compressed[middle + 16 :]
    )

    seen, trouble = read_up_to_the_trouble(path)

    assert len(seen) >= len(OBSERVATIONS) // 3
    assert seen == OBSERVATIONS[: len(seen)]
    assert isinstance(trouble, TapeDamagedError)
    assert trouble.line == len(seen) + 2
    assert str(path) in str(trouble)


def test_damage_in_a_single_zstd_frame_keeps_the_blocks_before(
    tmp_path: Path,
) -> None:
    frames = [a_frame(n, 500) for n in range(2000)]
    path = write(tmp_path / "a.tape.jsonl", frames)
    whole = compress(path.read_bytes())
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes(64) + whole[middle + 64 :])

    seen, trouble = read_up_to_the_trouble(path)

    assert len(seen) > 300
    assert seen == frames[: len(seen)]
    assert isinstance(trouble, TapeDamagedError)


def test_of_a_zstd_frame_with_a_wrong_checksum_nothing_is_kept(
    tmp_path: Path,
) -> None:
    """Its lines can be read, and any of them may be another one."""
    frames = [a_frame(n, 5000) for n in range(120)]
    path = write(tmp_path / "a.tape.jsonl.zst", frames)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))

    seen, trouble = read_up_to_the_trouble(path)

    # The zstd frames hold 64, 128, 256 KiB and the rest, 140 KiB.
    assert 84 <= len(seen) <= 95
    assert seen == frames[: len(seen)]
    assert isinstance(trouble, TapeDamagedError)
    assert "zstd frame 4 " in str(trouble)
    assert "checksum" in str(trouble)


def test_a_short_tape_keeps_its_beginning_too(tmp_path: Path) -> None:
    frames = [a_frame(n, 1000) for n in range(200)]
    path = write(tmp_path / "a.tape.jsonl.zst", frames)
    whole = path.read_bytes()
    middle = len(whole) // 2
    for bit in range(8):
        altered = bytes([whole[middle] ^ (1 << bit)])
        path.write_bytes(whole[:middle] + altered + whole[middle + 1 :])

        seen, trouble = read_up_to_the_trouble(path)

        assert len(seen) >= 50
        assert seen == frames[: len(seen)]
        assert isinstance(trouble, TapeDamagedError)


def test_zstd_says_in_words_that_a_checksum_is_wrong() -> None:
    """It has no type for it, and what is kept depends on it."""
    compressor = ZstdCompressor(
        options={CompressionParameter.checksum_flag: 1}
    )
    content = bytearray(
        compressor.compress(b"x" * 99, ZstdCompressor.FLUSH_FRAME)
    )
    content[-1] ^= 1

    with pytest.raises(ZstdError, match="checksum"):
        ZstdDecompressor().decompress(bytes(content))
