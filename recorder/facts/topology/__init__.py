"""Topology: what lies behind what, as dated relations of places."""

from recorder.facts.topology.cables import Cable, cable_of
from recorder.facts.topology.fold import (
    Conflict,
    Edge,
    Relation,
    Sighting,
    Topology,
)
from recorder.facts.topology.labels import sightings_of
from recorder.facts.topology.levels import (
    Level,
    hashed,
    is_among,
    label_of,
    labelled,
    level_of,
    places_of,
)
from recorder.facts.topology.relations import (
    RELATION,
    Related,
    claimed_relation,
    related,
)

__all__ = [
    "Cable",
    "Conflict",
    "Edge",
    "RELATION",
    "Level",
    "Related",
    "Relation",
    "Sighting",
    "Topology",
    "cable_of",
    "claimed_relation",
    "hashed",
    "is_among",
    "label_of",
    "labelled",
    "level_of",
    "places_of",
    "related",
    "sightings_of",
]
