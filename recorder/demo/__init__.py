"""The tape that ships with the package, for `recorder demo`.

It was recorded from a real cluster by tests/corpus/demo.py: a training Job on
three GPU nodes, of which one crashes and comes back with another boot id.
"""
