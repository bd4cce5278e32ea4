"""The archive: days of a log as Parquet files that need nothing else.

Knows files and no database. What lies where, and what each column says, is
specified in ``docs/archive.md``, so that others can read it; a change of it
is a new format number. Which day is archived when is decided in `retention`.
"""
