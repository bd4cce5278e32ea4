"""Incidents written from what controllers are known to write, truth first.

None of them was recorded and none was made with a rule in sight: objects,
Events, field managers and words are those of the controllers' own sources.
"""
