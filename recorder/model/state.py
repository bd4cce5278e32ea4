"""The state of an object, as far as facts hold it.

Names and omissions are those of what is stored: they are added to, never
renamed. What a document leaves out is None, or empty.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

TOPOLOGY: Final = ("rack", "pdu", "switch", "leaf-switch", "block", "zone")
"""Ends of the keys of labels that say where a node is."""

Scalar = str | int | bool


class Part(msgspec.Struct, frozen=True, gc=False):
    """A part of a fact; every member is written."""


class Condition(Part, frozen=True):
    """A condition of an object, without its type."""

    status: str | None = None
    reason: str | None = None
    message: str | None = None
    since: str | None = None


class Taint(Part, frozen=True):
    """A taint of a Node."""

    key: str
    value: str | None
    effect: str


_OWNER: Final = {"api_version": "apiVersion"}


class Owner(
    Part,
    frozen=True,
    omit_defaults=True,
    rename={"api_version": "apiVersion"},
):
    """A reference to an owner, as the API writes it."""

    api_version: str | None = None
    kind: str | None = None
    name: str | None = None
    uid: str | None = None
    controller: bool | None = None


def controller(owners: Sequence[Owner]) -> Owner | None:
    """Return the owner that controls an object, or else its only one.

    A queue's object for a group is owned by what made the group and by its
    Pods, and controlled by none of them: the Pods do not count.
    """
    for owner in owners:
        if owner.controller:
            return owner
    above = [one for one in owners if one.kind != "Pod"] or owners
    return above[0] if len(above) == 1 else None


class ContainerEnd(Part, frozen=True, omit_defaults=True):
    """The newest end of a container."""

    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None
    message: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    restarts: int = 0
    init: bool = False


class Held(Part, frozen=True):
    """What one field manager owns of a Node, and when that last changed."""

    manager: str
    time: str
    names: list[str]
    """`unschedulable`, `taints`, and `annotations/KEY`."""


class ObjectState(Part, frozen=True, omit_defaults=True):
    """What is compared of an object from one version to the next."""

    uid: str | None = None
    created_at: str | None = None
    deletion: str | None = None
    node: str | None = None
    """The node that the object concerns."""

    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    owners: list[Owner] = []
    conditions: Mapping[str, Condition] = {}
    taints: list[Taint] = []
    fields: Mapping[str, Scalar] = {}
    resources: Mapping[str, str] = {}
    """Of a Node, as ``allocatable/RESOURCE`` and ``capacity/RESOURCE``."""

    ends: Mapping[str, ContainerEnd] = {}
    """By container."""

    gpus: int = 0
    """That a Pod asks for."""

    held: list[Held] = []
    """Of a Node that a list showed first: who had written what it has."""


NO_STATE: Final = ObjectState()
