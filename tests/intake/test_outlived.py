"""Which lists of Events ask the log to be looked at further back."""

import orjson
import pytest

from recorder.intake.outlived import shows_outlived

TAKEN = "90"


def item(uid: str, version: str) -> bytes:
    return orjson.dumps({"metadata": {"uid": uid, "resourceVersion": version}})


@pytest.mark.parametrize(
    ("shown", "further"),
    [
        (item("unknown", "89"), True),
        (item("unknown", "90"), True),
        (item("unknown", "91"), False),
        (item("unknown", "100"), False),
        (item("known", "89"), False),
        (item("", "89"), False),
        (item("unknown", ""), False),
        (b'{"metadata": {"uid": 1}}', False),
        (b"\xff", False),
    ],
)
def test_only_what_was_taken_and_is_not_known_leads_further_back(
    shown: bytes, *, further: bool
) -> None:
    items = [item("known", "12"), shown]

    assert shows_outlived(items, {"known"}, TAKEN) is further
