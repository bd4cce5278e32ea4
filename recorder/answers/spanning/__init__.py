"""One log of which older days lie in the archive, or parts of younger ones.

Pure: two readings of one log behind the port of one. What was carried forward
when days were dropped is in both, as is what stayed of a day that an earlier
release thinned, and counts once: as the database has it.
"""
