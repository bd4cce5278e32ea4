"""One log of which older days lie in the archive.

Pure: two readings of one log behind the port of one. What was carried forward
when days were dropped is in both, and counts once.
"""
