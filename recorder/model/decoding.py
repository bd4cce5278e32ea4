"""What msgspec knows of a type, made before threads share it."""

from collections.abc import Iterator
from contextlib import suppress

import msgspec


def prepare_decoding() -> None:
    """Describe every struct defined so far to msgspec.

    To be called before the first thread starts that decodes or converts. A
    type is otherwise described at its first use, and a thread that uses it
    while another one describes it reads a description without its fields: the
    process ends with a segmentation fault (msgspec 0.22).
    """
    for struct in [*_below(msgspec.Struct)]:
        # Not all are read: some cannot be, as their unions are ambiguous.
        with suppress(TypeError):
            msgspec.json.Decoder(struct)


def _below(base: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for struct in base.__subclasses__():
        yield struct
        yield from _below(struct)
