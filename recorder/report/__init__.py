"""Answers: a question about the log to what is printed as JSON or text.

Pure but for the port through which the log is read: no driver, no terminal,
no clock of its own. Every answer carries its coverage, which says whether
something may be missing from it.
"""
