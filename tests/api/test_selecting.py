"""Nothing is read for a field that is not selected, nor for another page."""

from collections.abc import Callable
from typing import Any

import pytest

from api.resolvers.answers import entries
from api.resolvers.cursors import Cursor
from recorder.answers.entries import entry_coverage
from recorder.model.entry import Entry
from recorder.store.encoding import Decoder
from recorder.store.read_scan import page_statement
from recorder.store.rows import entries_of
from recorder.store.stored_facts import FactNames
from tests.api.serving import Client


class Counted:
    """How often something was done."""

    def __init__(self) -> None:
        self.times = 0

    def of(self, does: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*given: Any, **more: Any) -> Any:
            self.times += 1
            return does(*given, **more)

        return counting


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()

    def counting(*given: Any) -> list[Entry]:
        made = entries_of(*given)
        counted.times += len(made)
        return made

    monkeypatch.setattr("recorder.store.read_entries.entries_of", counting)
    return counted


@pytest.fixture
def documents(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(Decoder, "decode", counted.of(Decoder.decode))
    return counted


@pytest.fixture
def facts(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(FactNames, "_stored", counted.of(FactNames._stored))
    return counted


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages of entries that were asked for, as SQL."""
    asked: list[str] = []

    def asking(*given: Any, **more: Any) -> Any:
        query = page_statement(*given, **more)
        asked.append(query[0].text)
        return query

    monkeypatch.setattr("recorder.store.read_entries.page_statement", asking)
    return asked


@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("turn", ["first", "last"])
async def test_as_many_entries_are_read_as_are_shown(
    served: Client, lines: Counted, turn: str, count: int
) -> None:
    found = await served.ask(
        f'{{ entries(cluster: "crash", {turn}: {count}) {{ nodes {{ name }}'
        " pageInfo { hasNextPage hasPreviousPage } } }"
    )

    assert len(found["entries"]["nodes"]) == count
    assert True in found["entries"]["pageInfo"].values()
    assert lines.times <= count + 1


async def test_as_many_facts_are_read_as_are_shown(
    served: Client, facts: Counted
) -> None:
    found = await served.ask(
        '{ facts(cluster: "crash", first: 3) { nodes { entry } } }'
    )

    assert len(found["facts"]["nodes"]) == 3
    assert facts.times <= 4


async def test_as_many_versions_are_read_as_are_shown(
    served: Client, lines: Counted
) -> None:
    found = await served.ask(
        '{ object(cluster: "crash", name: "node/gpu-002") {'
        " versions(first: 2) { nodes { entry { name } } } } }"
    )

    assert len(found["object"]["versions"]["nodes"]) == 2
    # The newest too: it names the object.
    assert lines.times <= 4


async def test_a_document_is_decoded_for_what_an_entry_says_alone(
    served: Client, documents: Counted
) -> None:
    query = '{ entries(cluster: "crash", first: 50) { nodes { %s } } }'
    everything_else = (
        "name source resource operation object { kind name } resourceVersion"
        " reason actor occurredAt observedAt recordedAt"
    )
    await served.ask(query % everything_else)
    without = documents.times
    await served.ask(query % "says")

    assert without == 0
    assert documents.times > 0


async def test_names_are_joined_for_fields_that_show_them(
    served: Client, statements: list[str]
) -> None:
    query = '{ entries(cluster: "crash", first: 1) { nodes { %s } } }'
    await served.ask(query % "name position observedAt")
    await served.ask(query % "name object { name } reason")

    bare, named = statements
    assert "left join" not in bare
    assert "recorder.word" in named
    assert "recorder.object" in named
    assert "recorder.node" not in named


async def test_a_field_within_fragments_and_aliases_is_answered(
    served: Client,
) -> None:
    whole = await served.ask(
        '{ entries(cluster: "crash", first: 100) { nodes { name says node'
        " reason object { name } } coverage { complete } } }"
    )
    parts = await served.ask(
        """query Parts($yes: Boolean!) {
          entries(cluster: "crash", first: 100) {
            ... on EntryConnection { nodes { ...Named } }
            coverage @include(if: $yes) { complete } } }
        fragment Named on Entry { name ...Said }
        fragment Said on Entry { says node: node reason
          object @skip(if: false) { name } }""",
        yes=True,
    )

    assert parts == whole
    assert any(entry["says"] for entry in whole["entries"]["nodes"])


async def test_coverage_is_judged_where_it_is_selected(
    served: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = Counted()
    monkeypatch.setattr(entries, "entry_coverage", judged.of(entry_coverage))
    query = '{ entries(cluster: "crash", first: 1) { nodes { name } %s } }'
    await served.ask(query % "")
    unjudged = judged.times
    found = await served.ask(query % "coverage { complete }")

    assert unjudged == 0
    assert judged.times == 1
    assert found["entries"]["coverage"] == {"complete": True}


@pytest.mark.parametrize("what", ["entries", "facts"])
async def test_cursors_are_made_of_what_shows_them(
    served: Client, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    counted = Counted()
    monkeypatch.setattr(Cursor, "__str__", counted.of(Cursor.__str__))
    page = f'{what}(cluster: "crash", first: 7)'

    await served.ask(f"{{ {page} {{ nodes {{ node }} }} }}")
    few, counted.times = counted.times, 0
    await served.ask(f"{{ {page} {{ edges {{ cursor }} }} }}")

    assert few <= 2
    assert counted.times >= 7
