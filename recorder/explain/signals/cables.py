"""Signals of cables: a port that leads to another neighbor, or to none.

What a port leads to and what it should lead to are two labels of the Node. A
cable that is replugged on purpose changes both, so the labels of a whole
version count.
"""

from collections.abc import Iterable, Mapping

from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.facts.topology import cable_of
from recorder.model.fact import StoredFact
from recorder.model.facts import LabelChanged
from recorder.model.outcomes import Fault, Role
from recorder.model.reference import EntryName

Labels = Mapping[str, str]


class Cables:
    """The cables of a node, by the changes of its labels."""

    def __init__(self, node: str, facts: Iterable[StoredFact]) -> None:
        """Take the facts about a node, in the order of the log."""
        self._node = node
        self._changes: dict[EntryName, list[LabelChanged]] = {}
        for stored in facts:
            detail = stored.fact.detail
            if stored.fact.about == "Node" and isinstance(
                detail, LabelChanged
            ):
                self._changes.setdefault(stored.entry, []).append(detail)

    def signals(self, stored: StoredFact, labels: Labels) -> list[Signal]:
        """Return the signals of a fact, with the labels by then."""
        detail = stored.fact.detail
        cable = (
            cable_of(detail.key) if isinstance(detail, LabelChanged) else None
        )
        if cable is None:
            return []
        changes = self._changes.get(stored.entry, ())
        was = cable.is_right(_with(labels, {c.key: c.old for c in changes}))
        now = cable.is_right(_with(labels, {c.key: c.new for c in changes}))
        if (was is False) == (now is False):
            return []
        mended = was is False
        return [
            Signal(
                Role.RECOVERY if mended else Role.FAULT,
                Subject(Topic.METADATA, cable.current), stored,
                None if mended else Fault.LINK,
                place=cable.port(self._node), over=mended,
            )
        ]  # fmt: skip


def _with(labels: Labels, values: Mapping[str, str | None]) -> Labels:
    changed = {**labels, **values}
    return {key: v for key, v in changed.items() if v is not None}
