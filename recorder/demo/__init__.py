"""The tape that ships with the package, for `recorder demo`.

It was recorded from a real cluster by tests/corpus/demo.py: ten GPU nodes, of
which one is drained, rebooted and taken back by a controller after a GPU
failed under a training job, and another crashes without a word.
"""
