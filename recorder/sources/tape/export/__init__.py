"""`tape cut`: a part of a log as the tape that would have been recorded.

`cutting` is the use case, `ports` what it needs of the log, the others make
the frames: of the start, of each entry, of the end.
"""

from recorder.sources.tape.export.cutting import Cut, CutTape, cut_tape

__all__ = ["Cut", "CutTape", "cut_tape"]
