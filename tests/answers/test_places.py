"""The rack of a node, or what takes its place."""

import re
from pathlib import Path

import pytest

from recorder.answers.places import NARROW, Labels, rack_of
from recorder.model.place import Place

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


@pytest.mark.parametrize(
    ("place", "fits"),
    [
        ("switch/nn-7", True),
        ("switch/nn-1", True),
        ("rack/nn-7", False),
        ("domain/zone:a", True),
        ("domain/block:a", False),
        ("switch/nn", False),
        # The name that Topograph hashed into the label.
        (f"switch/{'s' * 64}", True),
    ],
)
def test_a_node_is_behind_the_places_of_its_labels(
    place: str,
    fits: bool,  # noqa: FBT001 - of the table
) -> None:
    labels = {
        "topology.k8s.aws/network-node-layer-3": "nn-7",
        "topology.k8s.aws/network-node-layer-1": "nn-1",
        "topology.kubernetes.io/zone": "a",
        "fabric.topograph.run/tier-0": "x322a0e50944b43e5",
    }
    chosen = Labels(place=Place.parse(place))
    assert chosen.fit(labels) is fits
    # What the log is searched for is the value of that label.
    ((key, value),) = chosen.shared
    assert key is None
    assert (value in labels.values()) is (place != "switch/nn")
