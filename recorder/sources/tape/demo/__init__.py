"""The tape that ships with the package, for `recorder demo`.

Recorded from a real cluster by tests/corpus/demo.py: ten GPU nodes. A
controller drains, reboots and uncordons one of them after a GPU failed under a
training job; another one crashes silently.
"""
