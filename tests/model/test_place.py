"""Places in their written form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.model.place import PLACE_NAME_MAX, Place, PlaceKind


@given(
    st.sampled_from(PlaceKind),
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,252}", fullmatch=True),
)
def test_a_place_is_read_as_it_was_written(kind: PlaceKind, name: str) -> None:
    place = Place(kind, name)
    assert str(place) == f"{kind.value}/{name}"
    assert Place.parse(str(place)) == place


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("leaf-7", '"leaf-7" is not a place'),
        ("", '"" is not a place'),
        ("shelf/7", '"shelf" is not a kind of place: use one of node, gpu'),
        ("Node/a", '"Node" is not a kind'),
        ("switch/", '"" is not the name of a place'),
        ("switch/leaf 7", '"leaf 7" is not the name'),
        ("pdu/b3\n", "is not the name"),
        ("pdu/-b3", "is not the name"),
        ("rack/é", "is not the name"),
        (f"rack/{'r' * (PLACE_NAME_MAX + 1)}", f"at most {PLACE_NAME_MAX}"),
    ],
)
def test_what_is_no_place_is_named_with_what_would_be(
    text: str, named: str
) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - see named
        Place.parse(text)
    assert named in str(refused.value)
