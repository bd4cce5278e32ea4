"""The log in PostgreSQL: the only package that speaks to it.

`append` is the only writer; the others read. Nothing here decides what a
document means.
"""
