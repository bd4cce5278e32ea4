"""One log whose older days, or parts of later days, are in the archive.

Pure: two readings of one log behind the port of one. Entries that were carried
forward from dropped days are in both, as are entries that remained of days
that an earlier release thinned. They count once, as the database has them.
"""
