"""What the oracle objects to: each rule of `comparison`, kept and broken.

A comparison that never complains would pass every other test, so each rule
has a log that breaks it and nothing else.
"""

from dataclasses import replace

import pytest

from tests.cluster.comparison import GapSpan, LogRow, Version, differences

HEAD = Version(
    epoch=1,
    group="",
    resource="nodes",
    namespace="",
    name="gpu-001",
    uid="u1",
    revision=10,
)
BEAT = replace(HEAD, revision=20, heartbeat=True)
CHANGE = replace(HEAD, revision=30)
LATE_BEAT = replace(HEAD, revision=40, heartbeat=True)
END = HEAD.as_deleted(50)
AGAIN = replace(HEAD, uid="u2", revision=60)
TRUTH = [HEAD, BEAT, CHANGE, LATE_BEAT, END, AGAIN]

FIRST_LIST = GapSpan(epoch=1, group="", resource="nodes", upto=5)


def row(version: Version, operation: str = "modified") -> LogRow:
    """Return the entry of a version; its order is its revision."""
    return LogRow(
        epoch=version.epoch,
        group=version.group,
        resource=version.resource,
        namespace=version.namespace,
        name=version.name,
        uid=version.uid,
        revision=version.revision,
        operation="deleted" if version.deleted else operation,
        order=version.revision,
    )


def absent(version: Version, *, order: int) -> LogRow:
    inferred = replace(row(version), operation="absent", revision=None)
    return replace(inferred, order=order)


def a_gap(after: int, upto: int | None) -> GapSpan:
    return replace(FIRST_LIST, after=after, upto=upto)


WHOLE = [row(HEAD, "added"), row(CHANGE), row(END), row(AGAIN, "added")]


def test_a_whole_log_is_right_and_heartbeats_are_not_missed() -> None:
    assert differences(TRUTH, WHOLE, [FIRST_LIST]) == []


@pytest.mark.parametrize("missing", range(len(WHOLE)))
def test_every_version_must_be_there(missing: int) -> None:
    rows = WHOLE[:missing] + WHOLE[missing + 1 :]

    found = differences(TRUTH, rows, [FIRST_LIST])

    assert any(d.startswith(("missing", "known")) for d in found)


@pytest.mark.parametrize("twice", range(len(WHOLE)))
def test_no_version_may_be_there_twice(twice: int) -> None:
    rows = [*WHOLE, replace(WHOLE[twice], order=99)]

    found = differences(TRUTH, rows)

    assert any(d.startswith("2 times") for d in found)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(WHOLE[1], revision=31),
        replace(WHOLE[1], uid="u3"),
        replace(WHOLE[1], name="gpu-002"),
        replace(WHOLE[1], operation="deleted"),
        replace(WHOLE[2], operation="modified"),
        replace(WHOLE[1], epoch=2),
    ],
)
def test_nothing_may_be_there_that_never_was(wrong: LogRow) -> None:
    rows = [r for r in WHOLE if r.order != wrong.order]

    found = differences(TRUTH, [*rows, wrong])

    assert any(d.startswith("etcd never had") for d in found)


def test_versions_of_an_object_must_be_in_order() -> None:
    rows = [replace(WHOLE[0], order=35), *WHOLE[1:]]

    found = differences(TRUTH, rows)

    assert any(d.startswith("out of order") for d in found)


def test_a_stream_must_not_go_back() -> None:
    other = replace(HEAD, name="gpu-002", uid="v1", revision=12)
    rows = [*WHOLE, replace(row(other), order=99)]

    found = differences([HEAD, other, *TRUTH[1:]], rows)

    assert [d.split(":")[0] for d in found] == ["stream out of order"]


def test_a_heartbeat_is_an_entry_only_where_a_list_showed_it() -> None:
    rows = [row(BEAT, "listed"), *WHOLE[1:]]
    assert differences(TRUTH, rows, [a_gap(0, 25)]) == []

    stored = differences(TRUTH, [*WHOLE, row(BEAT)])
    assert [d.split(":")[0] for d in stored] == ["a heartbeat is no entry"]


def test_with_full_fidelity_a_heartbeat_is_expected() -> None:
    found = differences(TRUTH, WHOLE, full_fidelity=True)
    assert [d.split(":")[0] for d in found] == ["missing", "missing"]

    rows = [*WHOLE, row(BEAT), row(LATE_BEAT)]
    assert differences(TRUTH, rows, full_fidelity=True) == []


def test_the_last_renewal_of_a_lease_may_come_late() -> None:
    lease = {"group": "coordination.k8s.io", "resource": "leases"}
    truth = [replace(v, **lease) for v in TRUTH]  # type: ignore[arg-type]
    rows = [replace(r, **lease) for r in WHOLE]  # type: ignore[arg-type]
    renewed = replace(rows[0], operation="renewed", revision=40, order=45)

    assert differences(truth, [*rows, renewed]) == []
    assert differences(TRUTH, [*WHOLE, replace(renewed, resource="nodes")])


def test_versions_before_the_first_list_are_not_expected() -> None:
    rows = [row(LATE_BEAT, "listed"), *WHOLE[2:]]
    assert differences(TRUTH, rows, [a_gap(0, 45)]) == []

    unknown = differences(TRUTH, WHOLE[2:], [a_gap(0, 45)])
    assert [d.split(" up to")[0] for d in unknown] == ["unknown after the gap"]


def test_what_a_gap_swallowed_is_not_expected_but_its_outcome_is() -> None:
    gap = a_gap(25, 35)
    rows = [WHOLE[0], *WHOLE[2:]]
    assert differences(TRUTH, rows, [gap]) != []

    listed = [*rows, row(CHANGE, "listed")]
    assert differences(TRUTH, listed, [gap]) == []


def test_a_delete_inside_a_gap_may_be_inferred_and_must_be_recorded() -> None:
    gap = a_gap(45, 65)
    before = WHOLE[:2]
    after = row(AGAIN, "listed")
    inferred = absent(END, order=61)
    assert differences(TRUTH, [*before, after, inferred], [gap]) == []

    unrecorded = differences(TRUTH, [*before, after], [gap])
    assert [d.split(":")[0] for d in unrecorded] == [
        "known, and its end is not recorded"
    ]


def test_an_absence_needs_a_gap_a_delete_and_no_revision() -> None:
    inferred = absent(END, order=51)
    rows = [*WHOLE[:2], inferred, WHOLE[3]]
    gap = a_gap(45, 55)

    assert differences(TRUTH, rows) != []
    assert differences(TRUTH[:4], rows[:3], [gap]) != []
    numbered = [*rows[:2], replace(inferred, revision=50), rows[3]]
    assert differences(TRUTH, numbered, [gap]) != []
    assert differences(TRUTH, [*WHOLE, inferred], [gap]) != []
    assert differences(TRUTH, rows, [gap]) == []


def test_where_only_expiry_is_excused_a_version_is_not() -> None:
    events = {"resource": "events"}
    truth = [replace(v, **events, heartbeat=False) for v in (HEAD, CHANGE)]  # type: ignore[arg-type]
    end = truth[1].as_deleted(50)
    gap = replace(FIRST_LIST, resource="events", after=25, upto=55)
    gap = replace(gap, only_expiry=True)
    gone = absent(end, order=51)

    rows = [row(truth[0]), row(truth[1]), gone]
    assert differences([*truth, end], rows, [gap]) == []
    assert differences([*truth, end], [rows[0], gone], [gap]) != []


def test_the_unvouched_end_of_an_epoch_may_miss_everything() -> None:
    restored = [replace(HEAD, epoch=2)]
    rows = [*WHOLE[:2], replace(row(restored[0], "listed"), order=100)]
    gaps = [a_gap(30, None), replace(FIRST_LIST, epoch=2, upto=15)]

    assert differences([*TRUTH, *restored], rows, gaps) == []
    assert differences([*TRUTH, *restored], rows[:2], gaps) != []


def test_versions_after_the_end_of_the_comparison_are_optional() -> None:
    assert differences(TRUTH, WHOLE[:2], through=45) == []
    assert differences(TRUTH, WHOLE[:3], through=45) == []


def test_events_of_both_groups_are_the_same_objects() -> None:
    truth = [replace(HEAD, resource="events", namespace="default")]
    rows = [replace(row(truth[0]), group="events.k8s.io")]

    assert differences(truth, rows) == []


def test_an_unrecorded_resource_is_only_compared_when_asked() -> None:
    truth = [replace(HEAD, resource="configmaps")]

    assert differences(truth, []) == []
    assert differences(truth, [], resources=[("", "configmaps")]) != []
