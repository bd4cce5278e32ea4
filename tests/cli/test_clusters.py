"""`recorder clusters`: many clusters, in one database or in many."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from recorder.store.writer import LogSpec
from recorder.wiring import known
from tests.cli.conftest import Recorder
from tests.support.builders import NODES, a_list, a_node
from tests.support.filled import filled_database
from tests.support.fixed_log import STORY, write_log
from tests.support.postgres import Database, DatabaseServer

DATABASES = 3
CLUSTERS = [f"prod-{number:02}" for number in range(1, 20)]
"""Clusters that answer; another one is dead."""

DEAD_ONE = "dead"
DEAD = "postgresql://reader:hush@127.0.0.1:1/recorder"


def clusters_of(database: int) -> list[str]:
    return CLUSTERS[database::DATABASES]


async def record(clusters: list[str], writer: str) -> None:
    """Record the story in each cluster, into one database."""
    for name in clusters:
        spec = LogSpec(
            cluster_name=name,
            cluster_uid=f"uid-of-{name}",
            kubernetes="v1.36.3",
            redaction_key_id=None,
        )
        await write_log(writer, STORY, spec=spec)


@pytest.fixture(scope="module")
def databases(embedded_server: DatabaseServer) -> Iterator[list[Database]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                filled_database(
                    embedded_server, partial(record, clusters_of(number))
                )
            )
            for number in range(DATABASES)
        ]


@pytest.fixture
def registry(
    databases: list[Database], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Twenty clusters: those in three databases, and one that is away."""
    file = tmp_path / "clusters.toml"
    lines = [
        f'{name} = "{database.dsn("reader")}"'
        for number, database in enumerate(databases)
        for name in clusters_of(number)
    ]
    text = "\n".join(["[clusters]", *lines, f'dead = "{DEAD}"'])
    file.write_text(text + "\n")
    monkeypatch.setenv("RECORDER_CLUSTERS_FILE", str(file))
    return file


def test_a_cluster_that_is_away_is_a_hole_beside_nineteen_others(
    recorder: Recorder, registry: Path
) -> None:
    del registry
    answer = recorder("clusters", "-o", "json")

    assert answer.status == 4
    assert answer.json["complete"] is False
    found = answer.json["clusters"]
    assert isinstance(found, list)
    assert len(found) == 20
    states = {one["name"]: one["state"] for one in found}
    assert states == {**dict.fromkeys(CLUSTERS, "stopped"), "dead": "away"}
    assert 'cluster "dead" is away' in answer.err
    assert "hush" not in answer.out + answer.err

    table = recorder("clusters", "--sort-by", "cluster")
    assert table.status == 4
    assert [line.split()[0] for line in table.out.splitlines()] == [
        "CLUSTER",
        "dead",
        *CLUSTERS,
    ]


@pytest.mark.parametrize("name", [CLUSTERS[0], "uid-of-prod-05"])
def test_a_cluster_of_the_registry_is_asked_in_its_own_database(
    recorder: Recorder, registry: Path, databases: list[Database], name: str
) -> None:
    if name not in CLUSTERS:
        with registry.open("a") as stream:
            place = CLUSTERS.index(name.removeprefix("uid-of-"))
            dsn = databases[place % DATABASES].dsn("reader")
            stream.write(f'"{name}" = "{dsn}"\n')
    answer = recorder("status", "--cluster", name, "-o", "json")

    assert answer.status == 0, answer.err
    found = answer.json["clusters"]
    assert isinstance(found, list)
    assert [name in {one["name"], one["uid"]} for one in found] == [True]


def test_an_entry_is_found_by_the_name_that_it_has_among_clusters(
    recorder: Recorder, registry: Path
) -> None:
    del registry
    other = clusters_of(1)[1]

    shown = recorder("log", f"{other}:2/2", "-o", "json")
    assert shown.status in {0, 4}, shown.err
    entries = shown.json["entries"]
    assert isinstance(entries, list)
    assert [one["entry"] for one in entries] == [f"{other}:2/2"]

    listed = recorder("incidents", "--log", f"{other}:2", "-o", "json")
    assert listed.status in {0, 4}, listed.err
    for number in ("1", f"{DEAD_ONE}:1", "nope:1", f"{other}:7"):
        answer = recorder("log", f"{number}/2")
        assert answer.status in {1, 2, 5}, number
        assert answer.err.startswith("recorder: "), number


def test_every_cluster_of_the_registry_is_asked_at_once(
    recorder: Recorder, registry: Path
) -> None:
    del registry
    answer = recorder("incidents", "-A", "-o", "json")

    assert answer.status == 4
    asked = answer.json["clusters"]
    assert isinstance(asked, list)
    assert {one["cluster"] for one in asked} == set(CLUSTERS)
    assert {one["log"] for one in asked} == {
        f"{name}:{number}"
        for database in range(DATABASES)
        for number, name in enumerate(clusters_of(database), 1)
    }
    assert answer.json["away"] == [
        {"cluster": DEAD_ONE, "why": "its database does not respond"}
    ]
    assert f'cluster "{DEAD_ONE}" is away' in answer.err


def test_status_lists_every_cluster_of_the_registry(
    recorder: Recorder, registry: Path
) -> None:
    del registry
    answer = recorder("status", "-o", "json")

    assert answer.status == 4, answer.err
    found = answer.json["clusters"]
    assert isinstance(found, list)
    assert {one["name"] for one in found} == set(CLUSTERS)
    assert answer.json["away"] == [
        {"cluster": DEAD_ONE, "why": "its database does not respond"}
    ]
    text = recorder("status")
    assert text.status == 4
    assert text.out.count("NOT being recorded") == len(CLUSTERS)
    assert f'cluster "{DEAD_ONE}" is away' in text.err


def test_status_names_all_that_are_away(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "clusters.toml"
    file.write_text(f'[clusters]\none = "{DEAD}"\nother = "{DEAD}"\n')
    monkeypatch.setenv("RECORDER_CLUSTERS_FILE", str(file))

    text = recorder("status")

    assert text.status == 4
    assert text.out == "no database of the registry responds\n"
    for name in ("one", "other"):
        assert f'cluster "{name}" is away: its database' in text.err


def test_a_hold_is_placed_where_its_incident_is(
    recorder: Recorder, registry: Path, databases: list[Database]
) -> None:
    """In the log and the database that the name of the entry gives."""
    text = registry.read_text()
    for database in databases:
        text = text.replace(database.dsn("reader"), database.superuser_dsn())
    registry.write_text(text)
    other = clusters_of(1)[1]
    placed = recorder(
        "hold", "add", "--incident", f"{other}:2/2", "--why", "it matters"
    )
    assert (placed.status, placed.out) == (0, "hold 1\n"), placed.err

    def holds_of(name: str) -> list[dict[str, object]]:
        listed = recorder("hold", "list", "--cluster", name, "-o", "json")
        assert listed.status == 0, listed.err
        found = listed.json["holds"]
        assert isinstance(found, list)
        return found

    (hold,) = holds_of(other)
    assert (hold["log"], hold["incident"]) == (2, "2/2")
    assert holds_of(clusters_of(0)[0]) == []
    for words in ([f"{other}:7/2"], [f"{other}:2/2", "--log", f"{other}:1"]):
        wrong = recorder("hold", "add", "--why", "x", "--incident", *words)
        assert wrong.status in {2, 5}, words


def test_a_log_is_never_that_of_another_cluster(
    recorder: Recorder,
    databases: list[Database],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where one database has all, a name with a cluster means the same."""
    monkeypatch.setenv("RECORDER_DATABASE_URL", databases[0].dsn("reader"))
    first, second = clusters_of(0)[:2]

    assert recorder("log", f"{first}:1/2").status in {0, 4}
    assert recorder("log", f"{second}:1/2").status == 5


def test_which_cluster_is_meant_has_to_be_said(
    recorder: Recorder, registry: Path
) -> None:
    del registry
    for words in (["gaps"], ["status", "--cluster", "other"]):
        answer = recorder(*words)
        assert answer.status == 2
        assert "20 clusters" in answer.err
        assert "--cluster" in answer.err


def test_a_log_beside_that_of_the_registry_is_named_by_its_number(
    recorder: Recorder,
    embedded_server: DatabaseServer,
    registry: Path,
) -> None:
    """Its cluster is not registered, so its name would be refused."""

    async def fill(writer: str) -> None:
        await record([CLUSTERS[0]], writer)
        spec = LogSpec(
            cluster_name="spare",
            cluster_uid="uid-of-spare",
            kubernetes="v1.36.3",
            redaction_key_id=None,
        )
        nodes = [[a_list(NODES, 10, a_node("spare-1", 1))]]
        await write_log(writer, nodes, spec=spec, with_facts=True)

    with filled_database(embedded_server, fill) as database:
        dsn = database.dsn("reader")
        registry.write_text(f'[clusters]\n{CLUSTERS[0]} = "{dsn}"\n')
        answer = recorder("why", "node/spare-1")
        assert answer.status == 5
        hint = answer.err.partition("another log has it: add ")[2].split()
        assert hint[0] == "--log"

        there = recorder("why", "node/spare-1", *hint[:2])
        assert "spare-1" in there.out
        assert there.status in {0, 4}


def test_a_database_that_hangs_holds_up_no_other(
    recorder: Recorder, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del registry
    monkeypatch.setattr(known, "PLACE_SECONDS", 0.0)

    answer = recorder("clusters")

    assert answer.status == 4
    assert answer.err.count("is away") == 20


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[clusters]\n",
        "[clusters]\na = 1\n",
        'clusters = "x"\n',
        '[clusters]\na = "x"\n[other]\n',
    ],
)
def test_a_registry_that_is_none_is_refused_with_its_name(
    recorder: Recorder, registry: Path, text: str
) -> None:
    registry.write_text(text)

    answer = recorder("clusters")

    assert answer.status == 2
    assert str(registry) in answer.err


def test_many_clusters_of_one_database_need_no_registry(
    recorder: Recorder,
    databases: list[Database],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RECORDER_DATABASE_URL", databases[0].dsn("reader"))

    answer = recorder("clusters", "-o", "name")

    assert answer.status == 0
    assert answer.out.split() == clusters_of(0)
