"""What the devices of a ResourceSlice say of where their node is.

A driver publishes attributes of the devices of a node, in the form of
``resource.k8s.io``: v1 and v1beta2 have them on the device, v1beta1 below
``basic``. Those whose keys are in the list of levels name places, as labels of
Nodes do; a change of them is a claim of `place.relation` by the slice.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from recorder.facts.topology import RELATION, level_of
from recorder.model.facts import Claimed
from recorder.model.place import Place, PlaceKind
from recorder.model.reference import Resource
from recorder.model.state import Scalar

FIELD: Final = "device/"
"""How fields of a state begin that hold an attribute: then the name of the
device, and the key."""

DEVICES_MAX: Final = 128
"""Of a slice, by its API."""

_read = msgspec.json.Decoder(list[dict[str, Any]]).decode

Slots = dict[tuple[str, str], Place]
"""The place in each slot, by the key and the slot."""


def placing_attributes(
    devices: msgspec.Raw, driver: object, resource: Resource
) -> dict[str, Scalar]:
    """Return the attributes of a slice that name places, as fields."""
    named = resource.group, resource.plural
    if named != ("resource.k8s.io", "resourceslices"):
        return {}
    try:
        listed = _read(bytes(devices) or b"[]")
    except msgspec.DecodeError:
        return {}
    return {
        f"{FIELD}{device.get('name')}/{key}": value
        for device in listed[:DEVICES_MAX]
        for key, value in _attributes(device, driver)
        if level_of(key) is not None
    }


def _attributes(
    device: Mapping[str, Any], driver: object
) -> Iterator[tuple[str, str]]:
    basic = device.get("basic")
    found = (basic if isinstance(basic, dict) else device).get("attributes")
    if not isinstance(found, dict):
        return
    for name, said in found.items():
        value = said.get("string") if isinstance(said, dict) else None
        if isinstance(value, str):
            # An attribute without a domain is of that of the driver.
            yield name if "/" in name else f"{driver}/{name}", value


def relations_between(
    slice_name: str,
    node: str | None,
    before: Mapping[str, Scalar],
    now: Mapping[str, Scalar],
    at: str,
) -> Iterator[Claimed]:
    """Yield what fields of a slice say of its node since those before."""
    if node is None:
        return
    old, new = _slots(before), _slots(now)
    for key, slot in sorted(old | new):
        parent = new.get((key, slot))
        if parent == old.get((key, slot)):
            continue
        data = {"parent": str(parent or old[key, slot]), "slot": slot}
        yield Claimed(
            type=RELATION,
            source=f"resourceslice/{slice_name} {key}",
            subject=f"{PlaceKind.NODE}/{node}",
            data=data if parent else {**data, "to": at},
        )


def _slots(fields: Mapping[str, Scalar]) -> Slots:
    """Return what a node is behind; by device where devices differ."""
    found: dict[str, dict[str, str]] = {}
    for field, value in fields.items():
        if field.startswith(FIELD):
            device, _, key = field.removeprefix(FIELD).partition("/")
            found.setdefault(key, {})[device] = str(value)
    slots: Slots = {}
    for key, values in found.items():
        level = level_of(key)
        assert level is not None, "it names a place"
        _, _, tier = level.slot.partition(" ")
        apart = len({*values.values()}) > 1
        for device, value in values.items():
            place = level.place(value)
            if place is not None:
                slot = f"{tier} {device}".strip() if apart else tier
                slots[key, slot] = place
    return slots
