"""The topology against SQLite, which knows nothing of our fold."""

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.facts.topology import (
    Relation,
    Sighting,
    Topology,
    hashed,
    level_of,
    places_of,
    sightings_of,
)
from recorder.model.place import Place, PlaceKind

T0 = datetime(2026, 11, 20, tzinfo=UTC)
HOUR = timedelta(hours=1)
PLACES = [Place(PlaceKind.NODE, f"n{i}") for i in range(3)] + [
    Place(kind, f"p{i}")
    for kind in (PlaceKind.PORT, PlaceKind.SWITCH, PlaceKind.RACK)
    for i in range(2)
]

SIGHTINGS = st.lists(
    st.builds(
        Sighting,
        st.integers(0, 5).map(lambda hours: T0 + hours * HOUR),
        st.sampled_from(PLACES),
        st.sampled_from(Relation),
        st.sampled_from(["rack", "switch"]),
        st.none() | st.sampled_from(PLACES),
        st.sampled_from(["label", "claim", "file"]),
    ),
    max_size=25,
    # Of one witness at one time, one sighting of a slot.
    unique_by=lambda one: (*one[:4], one.witness),
)
MOMENTS = st.integers(-1, 6).map(lambda hours: T0 + hours * HOUR)

# The newest sighting of each witness, then the newest of those that name a
# parent: at one time, that of the last witness.
HOLDING = """
with latest as (
  select s.* from seen s where s.at <= :at and not exists (
    select 1 from seen n where n.at <= :at and n.at > s.at
      and n.child = s.child and n.relation = s.relation
      and n.slot = s.slot and n.witness = s.witness)
), holds as (
  select l.* from latest l where l.parent is not null and not exists (
    select 1 from latest n where n.parent is not null
      and n.child = l.child and n.relation = l.relation and n.slot = l.slot
      and (n.at, n.witness) > (l.at, l.witness))
)
"""
BEHIND = (
    HOLDING.replace("with latest", "with recursive latest").rstrip()
    + """, reached (place) as (
  select child from holds where parent = :place and relation = 'behind'
  union select h.child from holds h join reached r on h.parent = r.place
    where h.relation = 'behind'
) select place from reached where place <> :place"""
)
CONFLICTS = (
    HOLDING
    + """select h.child, h.slot, h.parent, l.parent from holds h
join latest l on l.child = h.child and l.relation = h.relation
  and l.slot = h.slot and l.parent is not null and l.parent <> h.parent"""
)


def _database(seen: list[Sighting]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute(
        "create table seen (at, child, relation, slot, parent, witness)"
    )
    database.executemany(
        "insert into seen values (?, ?, ?, ?, ?, ?)",
        [
            (
                one.at.isoformat(),
                str(one.child),
                one.relation.value,
                one.slot,
                one.parent and str(one.parent),
                one.witness,
            )
            for one in seen
        ],
    )
    return database


@settings(max_examples=150, deadline=None)
@given(SIGHTINGS, MOMENTS, st.sampled_from(PLACES), st.randoms())
def test_a_topology_is_what_a_database_says_of_its_hour(
    seen: list[Sighting], at: datetime, place: Place, random: object
) -> None:
    shuffled = [*seen]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    topology, database = Topology(shuffled), _database(seen)
    bound = {"at": at.isoformat(), "place": str(place)}
    behind = {row[0] for row in database.execute(BEHIND, bound)}
    assert {str(one) for one in topology.behind(place, at)} == behind
    conflicts = sorted(database.execute(CONFLICTS, bound))
    assert conflicts == sorted(
        (
            str(one.holds.child),
            one.holds.slot,
            str(one.holds.parent),
            str(one.other.parent),
        )
        for one in topology.conflicts(at)
    )
    # Edges give the same hour: each relation once, none that had ended.
    edges = {
        (str(edge.child), edge.slot, edge.relation.value, str(edge.parent))
        for one in PLACES
        for edge in topology.edges(one)
        if edge.since <= at and (edge.until is None or at < edge.until)
    }
    assert edges == set(
        database.execute(
            HOLDING + "select child, slot, relation, parent from holds", bound
        )
    )


def test_the_later_witness_holds_until_it_ends_and_both_are_shown() -> None:
    node, old, new = (
        Place.parse(text) for text in ("node/a", "rack/r1", "rack/r2")
    )

    def seen(hours: int, parent: Place | None, witness: str) -> Sighting:
        at = T0 + hours * HOUR
        return Sighting(at, node, Relation.BEHIND, "rack", parent, witness)

    topology = Topology(
        [seen(0, old, "label"), seen(2, new, "claim"), seen(4, None, "claim")]
    )
    assert [
        topology.parents(node, T0 + hours * HOUR) for hours in (0, 3, 5)
    ] == [[old], [new], [old]]
    (conflict,) = topology.conflicts(T0 + 3 * HOUR)
    assert conflict.holds.parent == new
    assert conflict.other.parent == old
    assert topology.conflicts(T0 + 5 * HOUR) == []


@pytest.mark.parametrize(
    ("key", "places"),
    [
        ("backend.coreweave.cloud/leafgroup", "leafgroup/7 leafgroup"),
        ("backend.coreweave.cloud/superpod", "domain/superpod:7 superpod"),
        ("node.coreweave.cloud/rack", "rack/7 rack"),
        ("coreweave.dra.net/leafSwitch", "switch/7 switch"),
        ("fabric.topograph.run/tier-0", "switch/7 switch"),
        ("fabric.topograph.run/tier-2", "switch/7 switch +2"),
        ("network.topology.nvidia.com/leaf", "switch/7 switch"),
        ("network.topology.nvidia.com/spine", "switch/7 switch +1"),
        ("topology.k8s.aws/network-node-layer-3", "switch/7 switch"),
        ("topology.k8s.aws/network-node-layer-1", "switch/7 switch +2"),
        ("topology.nebius.com/tier-1", "switch/7 switch"),
        ("topology.nebius.com/tier-0", "domain/nvlink:7 nvlink"),
        ("cloud.google.com/gce-topology-block", "domain/block:7 block"),
        ("oci.oraclecloud.com/host.rack_id", "rack/7 rack"),
        ("nvidia.com/gpu.clique", "domain/clique:7 clique"),
        ("failure-domain.beta.kubernetes.io/zone", "domain/zone:7 zone"),
        ("topology.kubernetes.io/zone", "domain/zone:7 zone"),
        ("rack", "rack/7 rack"),
        ("site.example/pdu", "pdu/7 pdu"),
    ],
)
def test_each_provider_counts_its_own_way(key: str, places: str) -> None:
    level = level_of(key)
    assert level is not None
    assert f"{level.place('7')} {level.slot}" == places


@pytest.mark.parametrize(
    "key",
    ["app", "topology.k8s.aws/network-node-layer-", "example.com/racks",
     "fabric.topograph.run/tier-x", "backend.coreweave.cloud/flavor"],
)  # fmt: skip
def test_other_labels_name_no_place(key: str) -> None:
    assert level_of(key) is None


def test_a_value_that_is_no_name_is_no_place() -> None:
    assert places_of({"rack": "", "pdu": "p1"}) == {
        "pdu": Place(PlaceKind.PDU, "p1")
    }


def test_long_names_are_hashed_as_topograph_hashes_them() -> None:
    assert hashed("leaf-7") == "leaf-7"
    assert hashed("s" * 63) == "s" * 63
    # By hash/fnv of Go.
    assert hashed("s" * 64) == "x322a0e50944b43e5"


def test_the_node_of_a_dpu_names_its_host() -> None:
    labels = {"provisioning.dpu.nvidia.com/dpunode-name": "gpu-001"}
    topology = Topology(sightings_of("dpu-1", labels, T0))
    host, dpu = Place.parse("node/gpu-001"), Place.parse("node/dpu-1")
    assert topology.children(host, T0, Relation.HOST_OF) == [dpu]
    assert topology.parents(dpu, T0, Relation.HOST_OF) == [host]
    # What befalls a host is not thereby what befell its DPU.
    assert topology.behind(host, T0) == frozenset()


def test_labels_that_go_end_what_they_showed() -> None:
    labels = {"rack": "r1", "topology.k8s.aws/network-node-layer-3": "nn"}
    later = {"rack": "r2"}
    topology = Topology(
        [
            *sightings_of("a", labels, T0),
            *sightings_of("a", later, T0 + HOUR, before=labels),
        ]
    )
    node = Place(PlaceKind.NODE, "a")
    assert topology.parents(node, T0) == [
        Place(PlaceKind.RACK, "r1"),
        Place(PlaceKind.SWITCH, "nn"),
    ]
    assert topology.parents(node, T0 + HOUR) == [Place(PlaceKind.RACK, "r2")]
    assert topology.behind(Place(PlaceKind.RACK, "r2"), T0) == frozenset()
