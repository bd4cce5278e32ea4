"""The owner of a version, and what follows for others."""

from recorder.sources.watch.owners import Others, Owners
from tests.watch.watching import NODES, PODS


def test_a_version_of_one_resource_is_none_of_another() -> None:
    owners = Owners(lambda: 0)
    nodes, pods = Others(owners, NODES), Others(owners, PODS)
    owners.note(PODS, [5, 6], epoch=0)

    assert 5 in nodes
    assert 7 not in nodes
    assert 5 not in pods, "what was found of it need not be in the log"


def test_a_version_of_a_history_that_is_over_says_nothing() -> None:
    epoch = 0
    owners = Owners(lambda: epoch)
    nodes = Others(owners, NODES)
    owners.note(PODS, [5], epoch=0)
    epoch = 1
    owners.note(PODS, [6], epoch=0)
    owners.note(PODS, [7], epoch=1)

    assert [version in nodes for version in (5, 6, 7)] == [False, False, True]
