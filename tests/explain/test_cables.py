"""A port whose label names another neighbor, or none: a cable that fell."""

from msgspec.structs import replace

from recorder.model.outcomes import Fault, Happened
from tests.explain.tale import Tale
from tests.support.builders import at

PREFIX = "backend.coreweave.cloud/neighbors."
CURRENT = f"{PREFIX}current.mlx5_3.port-id"
EXPECTED = f"{PREFIX}expected.mlx5_3.port-id"


def a_node(expected: str | None = "leaf-7.12") -> Tale:
    tale = Tale().labels(1, CURRENT, "leaf-7.12", actor="ib-agent")
    if expected is not None:
        tale.labels(2, EXPECTED, expected, actor="inventory")
    return tale


def change(tale: Tale, at: float, key: str, old: str, new: str | None) -> Tale:
    return tale.labels(at, key, new, old=old, actor="ib-agent")


def test_a_port_that_leads_nowhere_is_a_fallen_cable_with_its_time() -> None:
    tale = change(a_node(), 60, CURRENT, "leaf-7.12", None)
    verdict = tale.verdict()
    assert verdict.happened is Happened.DEGRADED
    assert verdict.fault is not None
    assert verdict.fault.fault is Fault.LINK
    assert verdict.fault.says.startswith("port/n1:mlx5_3: ")
    assert verdict.fault.at == at(60)
    assert verdict.back_in_service_at is None


def test_a_swapped_cable_that_is_put_back_is_over() -> None:
    tale = change(a_node(), 60, CURRENT, "leaf-7.12", "leaf-9.1")
    change(tale, 300, CURRENT, "leaf-9.1", "leaf-7.12")
    change(tale, 900, CURRENT, "leaf-7.12", None)
    first, again = tale.verdicts()
    assert (first.cause, again.cause) == ("link-fault", "link-fault")
    assert [first.began_at, again.began_at] == [at(60), at(900)]


def test_a_cable_that_was_moved_on_purpose_is_no_fault() -> None:
    tale = a_node()
    change(tale, 60, CURRENT, "leaf-7.12", "leaf-9.1")
    change(tale, 60, EXPECTED, "leaf-7.12", "leaf-9.1")
    # Both in one version of the Node.
    first, last = tale.facts[-2:]
    tale.facts[-1] = replace(last, entry=first.entry, index=1)
    assert tale.verdicts() == []


def test_an_inventory_that_follows_the_cable_ends_the_fault() -> None:
    tale = change(a_node(), 60, CURRENT, "leaf-7.12", "leaf-9.1")
    change(tale, 90, EXPECTED, "leaf-7.12", "leaf-9.1")
    change(tale, 900, CURRENT, "leaf-9.1", None)
    assert [one.began_at for one in tale.verdicts()] == [at(60), at(900)]


def test_a_port_without_an_expected_neighbor_is_no_fault() -> None:
    tale = change(a_node(expected=None), 60, CURRENT, "leaf-7.12", None)
    assert tale.verdicts() == []


def test_a_port_that_was_wrong_all_along_has_no_time_of_a_fall() -> None:
    tale = change(a_node("leaf-8.1"), 60, CURRENT, "leaf-7.12", "leaf-9.1")
    (verdict,) = tale.verdicts()
    assert verdict.fault is not None
    assert verdict.fault.at == at(2)
