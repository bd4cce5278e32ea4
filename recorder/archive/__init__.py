"""The archive: days of a log as Parquet files that need nothing else.

It reads and writes files, and no database. ``docs/archive.md`` specifies
folders and columns, so that other programs can read them; a change is a new
format number. `retention` decides which days are archived and when.
"""
