"""Tapes: what a cluster sent, in one file that stays readable for years.

A tape holds observations, one per line, in the order of their arrival. This
package writes tapes, reads them, describes them and plays them as a source. It
does not redact, classify or judge their content: a played tape takes the path
of a live cluster, and a recorded one has taken it up to redaction.
"""

from recorder.sources.tape.errors import (
    NotATapeError,
    TapeDamagedError,
    TapeError,
    TapeExistsError,
    TapeFrameError,
    TapeHeaderError,
    TapeLineTooLongError,
    TapeTruncatedError,
    TapeUnreadableError,
    TapeWriteError,
    UnknownFrameError,
)
from recorder.sources.tape.gaps import TapeGap
from recorder.sources.tape.header import TapeCut, TapeHeader
from recorder.sources.tape.info import TapeInfo, describe, tape_identity
from recorder.sources.tape.reader import TapeReader
from recorder.sources.tape.source import TapeProgress, TapeSource
from recorder.sources.tape.whole import check_free, whole_tape
from recorder.sources.tape.writer import TapeTee, TapeWriter

__all__ = [
    "NotATapeError",
    "TapeCut",
    "TapeDamagedError",
    "TapeError",
    "TapeExistsError",
    "TapeFrameError",
    "TapeGap",
    "TapeHeader",
    "TapeHeaderError",
    "TapeInfo",
    "TapeLineTooLongError",
    "TapeProgress",
    "TapeReader",
    "TapeSource",
    "TapeTee",
    "TapeTruncatedError",
    "TapeUnreadableError",
    "TapeWriteError",
    "TapeWriter",
    "UnknownFrameError",
    "check_free",
    "describe",
    "tape_identity",
    "whole_tape",
]
