"""The log in PostgreSQL: the only package that accesses it.

`append` alone writes entries. Nothing here decides what a document means.
"""
