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
    label_of,
    labelled,
    level_of,
    places_of,
)

__all__ = [
    "Cable",
    "Conflict",
    "Edge",
    "Level",
    "Relation",
    "Sighting",
    "Topology",
    "cable_of",
    "hashed",
    "label_of",
    "labelled",
    "level_of",
    "places_of",
    "sightings_of",
]
