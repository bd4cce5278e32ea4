"""Deltas: documents compressed by zstd with another document as prefix.

Python's zstd makes a new context for each prefix, which takes twice as long as
the rest of a delta: zstd queries the features of the processor, which takes
microseconds in a virtual machine. So this module calls the same library on one
context, by stable functions of its C interface. If they cannot be found, each
delta has its own context.
"""

import ctypes
import sys
import weakref
from collections.abc import Callable
from typing import Any

from recorder.model.zstd import (
    CompressionParameter,
    ZstdCompressor,
    ZstdDict,
    ZstdError,
)

_MODULES = ("_zstd", "backports.zstd._zstd")
"""Of the standard library, and of the package for Python before 3.14."""


class PlainDeltaCompressor:
    """Compresses each document in a context of its own."""

    def __init__(self, level: int) -> None:
        self._level = level

    def compress(self, raw: bytes, prefix: bytes) -> bytes:
        """Return a frame that can be read with the prefix."""
        given = ZstdDict(prefix, is_raw=True).as_prefix
        compressor = ZstdCompressor(level=self._level, zstd_dict=given)
        return compressor.compress(raw, ZstdCompressor.FLUSH_FRAME)


class DeltaCompressor:
    """Compresses one document after another in the same context.

    It is not safe to use by two threads at once.
    """

    def __init__(self, level: int, library: ctypes.PyDLL) -> None:
        """Create the context.

        Raises:
            AttributeError: the library does not have the functions.
            ZstdError: the context cannot be created.
        """
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self._is_error = _function(library.ZSTD_isError, ctypes.c_uint, size)
        self._bound = _function(library.ZSTD_compressBound, size, size)
        self._refer = _function(
            library.ZSTD_CCtx_refPrefix, size, pointer, ctypes.c_char_p, size
        )
        self._compress = _function(
            library.ZSTD_compress2,
            size, pointer, pointer, size, ctypes.c_char_p, size,
        )  # fmt: skip
        make = _function(library.ZSTD_createCCtx, pointer)
        free = _function(library.ZSTD_freeCCtx, size, pointer)
        choose = _function(
            library.ZSTD_CCtx_setParameter,
            size, pointer, ctypes.c_int, ctypes.c_int,
        )  # fmt: skip
        self._context = make()
        if self._context is None:
            msg = "cannot compress: zstd has no memory for a context"
            raise ZstdError(msg)
        weakref.finalize(self, free, self._context)
        parameter = CompressionParameter.compression_level.value
        self._check(choose(self._context, parameter, level))
        self._room(0)

    def compress(self, raw: bytes, prefix: bytes) -> bytes:
        """Return a frame that can be read with the prefix."""
        most = self._bound(len(raw))
        if most > len(self._written):
            self._room(most)
        # A prefix applies to the next frame only.
        self._check(self._refer(self._context, prefix, len(prefix)))
        written = self._compress(
            self._context, self._place, len(self._written), raw, len(raw)
        )
        return bytes(self._written[: self._check(written)])

    def _room(self, size: int) -> None:
        buffer = ctypes.create_string_buffer(max(size, 1 << 16))
        self._place = ctypes.addressof(buffer)
        self._written = memoryview(buffer)

    def _check(self, result: int) -> int:
        if self._is_error(result):
            msg = f"cannot compress: zstd says error {2**64 - result}"
            raise ZstdError(msg)
        return result


def delta_compressor(level: int) -> DeltaCompressor | PlainDeltaCompressor:
    """Return the fastest compressor available."""
    for name in _MODULES:
        path = getattr(sys.modules.get(name), "__file__", None)
        if path is not None:
            try:
                return DeltaCompressor(level, ctypes.PyDLL(path))
            except (OSError, AttributeError):
                continue
    return PlainDeltaCompressor(level)


def _function(
    function: Callable[..., Any], result: type, *given: type
) -> Callable[..., Any]:
    function.restype = result  # type: ignore[attr-defined]
    function.argtypes = given  # type: ignore[attr-defined]
    return function
