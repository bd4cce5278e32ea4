"""Retention: which days are archived and dropped, and when.

Pure: policies and days in, a plan out. What the steps do to the database and
to the archive is the business of those; whether they may be taken is checked
by the database once more.
"""
