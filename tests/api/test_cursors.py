"""Cursors that clients hold are read, and are written as they were."""

import pytest

from api.errors import CursorError
from api.resolvers.cursors import BEGIN, INDEX_MAX, Cursor, Order

ENTRIES, INCIDENTS = Order.ENTRIES, Order.INCIDENTS
AT = 1_795_252_442_000_113
"""Microseconds since 1970 at 2026-11-21T09:14:02.000113Z."""

OF_LOGS = {
    "djE6MTo0ODIxMzoxNjM4NA": Cursor.behind(1, 48213),
    "ZjE6MTo0ODIxMzozOjc": Cursor(ENTRIES, "1", {"1": (48213, 3)}, 7),
    "djE6Mjo0ODIxMzoxNjM4NEBwcm9kLWV1": Cursor(
        ENTRIES, "prod-eu:2", {"prod-eu:2": (48213, INDEX_MAX)}
    ),
    "ZjE6Mjo0ODIxMzozOjdAcHJvZC1ldQ": Cursor(
        ENTRIES, "prod-eu:2", {"prod-eu:2": (48213, 3)}, 7
    ),
    "bTE6MToxNzk1MjUyNDQyMDAwMTEzOjQ4MjEz": Cursor(
        INCIDENTS, "1", {"1": (AT, 48213)}
    ),
    "bTE6MjoxNzk1MjUyNDQyMDAwMTEzOjQ4MjEzQHByb2QtZXU": Cursor(
        INCIDENTS, "prod-eu:2", {"prod-eu:2": (AT, 48213)}
    ),
}
OF_FLEETS = {
    "YzE6WyJlbnRyaWVzIiwicHJvZC1ldToyIix7InByb2QtZXU6MiI6WzAsNDgyMTNdLCJwcm9k"
    "LXVzOjEiOlswLDc3XSwiZGV2OjEiOlswLDBdfV0": Cursor(
        ENTRIES,
        "prod-eu:2",
        {
            "prod-eu:2": (48213, INDEX_MAX),
            "prod-us:1": (77, INDEX_MAX),
            "dev:1": BEGIN,
        },
        fleet=True,
    ),
    "YzE6WyJpbmNpZGVudHMiLCJwcm9kLWV1OjIiLHsicHJvZC1ldToyIjpbMTc5NTI1MjQ0MjAw"
    "MDExMyw0ODIxM10sInByb2QtdXM6MSI6WzAsMF19XQ": Cursor(
        INCIDENTS,
        "prod-eu:2",
        {"prod-eu:2": (AT, 48213), "prod-us:1": BEGIN},
        fleet=True,
    ),
}


@pytest.mark.parametrize("text", [*OF_LOGS, *OF_FLEETS])
def test_a_cursor_of_an_earlier_release_is_read_and_written(text: str) -> None:
    expected = (OF_LOGS | OF_FLEETS)[text]

    found = Cursor.parse(text, expected.order, fleet=expected.fleet)

    assert found == expected
    assert str(found) == text


@pytest.mark.parametrize("text", [*OF_LOGS, *OF_FLEETS])
def test_a_cursor_of_another_list_is_refused(text: str) -> None:
    own = (OF_LOGS | OF_FLEETS)[text]

    for order in Order:
        for fleet in (False, True):
            if (order, fleet) != (own.order, own.fleet):
                with pytest.raises(CursorError):
                    Cursor.parse(text, order, fleet=fleet)


def test_a_place_within_an_entry_is_written_for_a_fleet_as_before_it() -> None:
    within = Cursor(ENTRIES, "a:1", {"a:1": (9, INDEX_MAX - 1)}, fleet=True)

    found = Cursor.parse(str(within), ENTRIES, fleet=True)

    assert found.spots == {"a:1": (8, INDEX_MAX)}
