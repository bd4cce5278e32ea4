"""The shape of a blind truth, before and after it is played.

A truth is written before its tape exists. Times are not known then, so it
names acts instead: ``window`` and ``stopped_between`` hold labels. `resolved`
puts the times of the acts in their place, and changes nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.corpus.identities import boot_id

__all__ = ["ABRUPT", "REBOOT_ORDERED", "Truth", "asked", "job", "resolved"]

ABRUPT = (3, 5)
"""A panic or a loss of power: nothing in these clusters distinguishes them."""

REBOOT_ORDERED = (1, 10, 11, 14)
"""A request, an upgrade, maintenance, a drain: a program that cordons, evicts
and reboots may be any of them unless the record says more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What is true of one incident."""

    name: str
    software: str
    says: str
    questions: Sequence[Mapping[str, Any]]
    audit: bool = False
    edited: str = ""
    """What was changed in the tape after it was recorded."""


@dataclass(frozen=True, slots=True)
class _Labels:
    """Times by the labels of acts."""

    times: Mapping[str, str] = field(default_factory=dict)

    def at(self, label: str | None) -> str | None:
        return None if label is None else self.times[label]


def job(
    title: str,
    gpus: int,
    outcome: str,
    *accept: str,
    how: Sequence[str] = (),
    lost_on: Sequence[str] = (),
    gang: int = 1,
) -> dict[str, Any]:
    """Return what became of a workload, ``Kind/namespace/name``."""
    kind, namespace, name = title.split("/")
    return {
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "gang_size": gang,
        "gpus": gpus,
        "outcome": outcome,
        "accept": [outcome, *accept],
        "how": list(how),
        "lost_on": list(lost_on),
    }


def asked(
    node: str,
    happened: str,
    accept: Sequence[int] = (),
    *,
    planned: bool | None,
    actor: str | None = "unknown",
    **more: Any,
) -> dict[str, Any]:
    """Return a question about a node, and what is true in its window.

    ``boots`` are the numbers of the boots before and after, ``stopped`` the
    labels between which the machine was down; other words are those of the
    truth file.
    """
    classes = {"number": next(iter(accept), None), "accept": list(accept)}
    return {
        "node": node,
        "window": more.pop("window", ["start", "end"]),
        "happened": happened,
        "boots": more.pop("boots", (1, 1)),
        "class": classes if accept else None,
        "planned": planned,
        "actor": actor,
        "stopped_between": more.pop("stopped", None),
        "jobs": more.pop("jobs", []),
        "not_hit": more.pop("not_hit", []),
        "may_list": more.pop("may_list", []),
        **more,
    }


def resolved(
    truth: Truth, acts: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """Return the truth file: labels become the times of the acts."""
    labels = _Labels({act["label"]: act["at"] for act in acts})
    return {
        "id": truth.name,
        "software": truth.software,
        "says": truth.says,
        "audit_in_tape": truth.audit,
        "edited": truth.edited,
        "questions": [
            _question(truth.name, question, labels)
            for question in truth.questions
        ],
        "timeline": [dict(act) for act in acts],
    }


def _question(
    name: str, question: Mapping[str, Any], labels: _Labels
) -> dict[str, Any]:
    before, after = question["boots"]
    stopped = question["stopped_between"]
    node = question["node"]
    return {
        **{key: question[key] for key in question if key != "boots"},
        "window": [labels.at(label) for label in question["window"]],
        "boot_ids": [
            boot_id(name, node, before),
            boot_id(name, node, after),
        ],
        "stopped_between": stopped and [labels.at(label) for label in stopped],
    }
