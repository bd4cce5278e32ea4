"""Lines of container logs, as runtimes write them, joined again.

A runtime cuts the output of a program into pieces of 16 KiB, and records are
often longer: CRI marks a piece (``P``), Docker by omitting its newline.
"""

import re

import msgspec

_CRI = re.compile(
    rb"\d{4}-\d\d-\d\dT\S+ (stdout|stderr) ([FP])(?::\S*)? ?(.*)", re.DOTALL
)
HELD_BYTES_MAX = 16 << 20


class _Docker(msgspec.Struct):
    log: str
    stream: str
    time: str


_read_docker = msgspec.json.Decoder(_Docker).decode


class ContainerLines:
    """Joins the pieces of lines, for each stream of a container."""

    def __init__(self) -> None:
        self._held: dict[bytes, bytes] = {}

    @property
    def is_holding(self) -> bool:
        """Whether a line has begun that did not end."""
        return any(self._held.values())

    def cri(self, line: bytes) -> bytes | None:
        """Return what a line completes: nothing if it is a piece.

        None if it is not a line of a container runtime.
        """
        found = _CRI.fullmatch(line)
        if found is None:
            return None
        stream, tag, text = found.groups()
        return self._joined(stream, text, is_last=tag == b"F") or b""

    def docker(self, raw: bytes) -> bytes | None:
        """Return what a document of Docker completes; others as they are.

        None if it is a piece, or an empty line.
        """
        if b'"log"' not in raw[:1024]:
            return raw
        try:
            line = _read_docker(raw)
        except (ValueError, RecursionError):
            return raw
        text = line.log.encode(errors="surrogatepass")
        is_last = text.endswith(b"\n")
        whole = self._joined(
            line.stream.encode(), text.rstrip(b"\r\n"), is_last=is_last
        )
        return whole or None

    def _joined(
        self, stream: bytes, text: bytes, *, is_last: bool
    ) -> bytes | None:
        held = self._held.get(stream, b"") + text
        if is_last or len(held) > HELD_BYTES_MAX:
            self._held[stream] = b""
            return held
        self._held[stream] = held
        return None
