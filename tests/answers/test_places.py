"""The rack of a node, or what takes its place."""

import re
from pathlib import Path

import pytest

from recorder.answers.node_questions import Labels
from recorder.answers.places import NARROW, rack_of

PAGE = Path(__file__).parents[2] / "api/page/fleet/standing.js"


@pytest.mark.parametrize(
    ("labels", "rack"),
    [
        ({"example.com/rack": "r7", "example.com/switch": "s1"}, "r7"),
        ({"b/leaf-switch": "l-12", "a/block": "b3", "zone": "a"}, "l-12"),
        ({"topology.kubernetes.io/zone": "a", "example.com/racks": "2"}, None),
    ],
)
def test_the_narrowest_place_is_the_rack(
    labels: dict[str, str], rack: str | None
) -> None:
    assert rack_of(labels) == rack
    assert Labels(rack=rack or "a").fit(labels) is (rack is not None)


def test_the_page_names_the_same_rack() -> None:
    (named,) = re.findall(r"NARROW = \[([^\]]*)\]", PAGE.read_text())

    assert tuple(re.findall(r"'([^']+)'", named)) == NARROW
