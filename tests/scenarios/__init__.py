"""Incidents written from what controllers are known to write, truth first.

None of them was recorded and none was made with a rule in sight: objects,
Events, field managers and words are those of the controllers' own sources.
They are sorted by cause: `failures`, `requests`, `remediation`, `upgrades` and
`provider`; `workloads` is what was hit and went on, `records` what a log
shows less of than happened.

The package `tests.scenarios.telling` makes them: a `world` has objects, a
`cluster` nodes, `pods` are work, and a `scene` says what is to be concluded,
in the words of `truths`. What a controller does is a function beside its
incidents, for others to use.
"""
