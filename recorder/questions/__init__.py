"""Questions about the log: typed arguments to an answer, a use case a module.

Pure but for the ports through which the log is read: no driver, no terminal,
no clock of its own. Every answer carries its coverage, which says whether
something may be missing from it. How it is written is for others.
"""
