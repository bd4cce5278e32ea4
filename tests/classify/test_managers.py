"""What moved shows who wrote between two versions, or nothing does."""

from typing import Any

from recorder.facts.classify.managers import moved_managers


def an_entry(
    manager: str, second: int, fields: str = "f:spec", **more: Any
) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Update",
        "time": f"2026-11-21T03:00:{second:02}Z",
        "fieldsV1": {fields: {}},
        **more,
    }


def written_by(*entries: Any) -> dict[str, Any]:
    return {"metadata": {"managedFields": list(entries)}}


def moved(old: Any, new: Any) -> list[tuple[str, str | None]]:
    return [(m.name, m.subresource) for m in moved_managers(old, new)]


def test_an_entry_whose_time_moved_is_of_one_who_wrote() -> None:
    old = written_by(an_entry("kubelet", 1), an_entry("kubectl", 2))
    new = written_by(an_entry("kubelet", 3), an_entry("kubectl", 2))

    assert moved(old, new) == [("kubelet", None)]


def test_the_latest_time_alone_says_nothing() -> None:
    """Someone wrote within the second of another, who did not write."""
    old = written_by(an_entry("a", 1), an_entry("z", 5))
    new = written_by(an_entry("a", 5), an_entry("z", 5))

    assert moved(old, new) == [("a", None)]


def test_fields_that_moved_within_a_second_are_seen() -> None:
    old = written_by(an_entry("a", 1))
    new = written_by(an_entry("a", 1, "f:status"))

    assert moved(old, new) == [("a", None)]


def test_several_are_named_in_the_order_of_their_times() -> None:
    old = written_by(an_entry("a", 1), an_entry("b", 1))
    new = written_by(
        an_entry("a", 9),
        an_entry("b", 8),
        an_entry("b", 7, subresource="status"),
    )

    assert moved(old, new) == [("b", "status"), ("b", None), ("a", None)]


def test_no_author_is_guessed() -> None:
    written = written_by(an_entry("a", 1))
    nothing: dict[str, Any] = {"metadata": {"name": "n"}}

    assert moved(written, written) == []
    assert moved(nothing, written) == []
    assert moved(written, nothing) == []
    assert moved({}, {}) == []
    assert moved(written, written_by("odd", {"manager": 7})) == []


def test_all_who_made_an_object_are_named() -> None:
    new = written_by(an_entry("b", 2), an_entry("a", 1))

    assert moved(None, new) == [("a", None), ("b", None)]


def test_an_applier_differs_from_one_who_updates() -> None:
    old = written_by(an_entry("a", 1))
    new = written_by(an_entry("a", 1), an_entry("a", 2, operation="Apply"))

    assert [m.operation for m in moved_managers(old, new)] == ["Apply"]
