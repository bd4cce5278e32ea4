"""The manifest grants what the built-in list needs, and no more.

That these rights suffice is shown against the real API server.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from recorder.sources.watch.catalog import BUILT_IN, NAMESPACE_ONLY

MANIFEST = Path(__file__).parents[2] / "deploy" / "rbac.yaml"


def _granted(kind: str) -> Iterator[tuple[str, str, str]]:
    for document in yaml.safe_load_all(MANIFEST.read_text()):
        if document["kind"] == kind:
            where = document["metadata"].get("namespace", "")
            yield from _rights(document["rules"], where)


def _rights(rules: Any, where: str) -> Iterator[tuple[str, str, str]]:
    for rule in rules:
        assert rule["verbs"] == ["get", "list", "watch"]
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                yield where, group, resource


def test_cluster_wide_rights_are_those_of_the_built_in_list() -> None:
    needed = {
        ("", group, plural)
        for group, plurals in BUILT_IN.items()
        for plural in plurals
        if (group, plural) not in NAMESPACE_ONLY
    }
    granted = list(_granted("ClusterRole"))

    assert set(granted) == needed
    assert len(granted) == len(needed)


def test_rights_in_one_namespace_are_granted_there() -> None:
    assert set(_granted("Role")) == {
        (namespace, group, plural)
        for (group, plural), namespace in NAMESPACE_ONLY.items()
    }
