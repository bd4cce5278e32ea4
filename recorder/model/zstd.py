"""Zstandard, from wherever this Python has it.

The standard library includes it since 3.14; before that the same code is in
`backports.zstd`. All modules import it from here, so that the tape and the
store always use the same one.
"""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdDict,
        ZstdError,
        ZstdFile,
        compress,
        decompress,
        open,  # noqa: A004 - the name that zstd gives it
        train_dict,
    )
else:
    from backports.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdDict,
        ZstdError,
        ZstdFile,
        compress,
        decompress,
        open,  # noqa: A004 - the name that zstd gives it
        train_dict,
    )

__all__ = [
    "CompressionParameter",
    "DecompressionParameter",
    "ZstdCompressor",
    "ZstdDecompressor",
    "ZstdDict",
    "ZstdError",
    "ZstdFile",
    "compress",
    "decompress",
    "open",
    "train_dict",
]
