"""Forms of text that all answers share: tables, lines and drawings.

Pure: the same rows give the same bytes. Nothing here asks anything or reads
a log.
"""
