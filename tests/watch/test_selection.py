"""Which of the served resources are recorded."""

import pytest

from recorder.model.errors import ConfigError
from recorder.model.reference import Resource
from recorder.sources.watch import Pattern, Selection
from recorder.sources.watch.target import Served


def _served(group: str, plural: str, *versions: str) -> Served:
    return Served(
        group=group,
        plural=plural,
        kind=plural.title(),
        namespaced=True,
        versions=versions or ("v1",),
    )


SERVED = [
    _served("", "configmaps"),
    _served("", "pods"),
    _served("", "nodes"),
    _served("", "secrets"),
    _served("", "services"),
    _served("events.k8s.io", "events"),
    _served("ray.io", "rayjobs", "v1", "v1beta1"),
    _served("example.com", "widgets"),
    _served("remediation.medik8s.io", "anything"),
]


def _chosen(include: str = "", exclude: str = "") -> list[str]:
    selection = Selection(
        include=[Pattern.parse(text) for text in include.split()],
        exclude=[Pattern.parse(text) for text in exclude.split()],
    )
    return [str(resource) for resource in selection.choose(SERVED)]


BUILT_IN = [
    "v1/nodes",
    "v1/pods",
    "remediation.medik8s.io/v1/anything",
    "ray.io/v1/rayjobs",
]


def test_the_built_in_list_is_the_default_and_the_order() -> None:
    assert _chosen() == BUILT_IN


@pytest.mark.parametrize(
    ("include", "added"),
    [
        ("services", ["v1/services"]),
        ("core/services", ["v1/services"]),
        ("example.com/*", ["example.com/v1/widgets"]),
        ("*/widgets", ["example.com/v1/widgets"]),
        ("secrets", ["v1/secrets"]),
        ("core/configmaps", ["v1/configmaps"]),
        ("core/*", ["v1/services"]),
        ("events.k8s.io/events", []),
    ],
)
def test_an_include_adds(include: str, added: list[str]) -> None:
    assert set(_chosen(include)) == {*BUILT_IN, *added}


def test_everything_is_everything_but_what_must_be_named() -> None:
    left = {"v1/configmaps", "v1/secrets", "events.k8s.io/v1/events"}

    chosen = set(_chosen("*"))

    assert len(chosen) == len(SERVED) - len(left)
    assert not chosen & left


def test_an_exclude_wins() -> None:
    assert "v1/pods" not in _chosen("*", "pods")
    assert "v1/secrets" not in _chosen("secrets", "core/*")


def test_a_version_in_use_is_kept() -> None:
    used = Resource("ray.io", "v1beta1", "rayjobs")

    assert used in Selection().choose(SERVED, prefer=[used])
    assert Resource("ray.io", "v1", "rayjobs") in Selection().choose(SERVED)


@pytest.mark.parametrize("text", ["", "/", "a/", "/b", "a/b/c"])
def test_a_pattern_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="names no resource"):
        Pattern.parse(text)
