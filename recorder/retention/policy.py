"""Policies: for how long days stay in the database, and what comes of them.

What goes before its day, or stays after it, are statements of their own: audit
records, Events, silences of Leases. Versions of objects never do, since every
answer starts from them; of a kind of objects the facts may stay.

Data from the settings; what contradicts itself is an error that names the
keys, before anything is done.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from recorder.errors import ConfigError

__all__ = [
    "EVENT",
    "LOOKBACK",
    "Policy",
    "PolicyError",
    "Rule",
    "is_statement",
    "read_policy",
]

LOOKBACK = timedelta(days=1)
"""Answers about a window look a day further back, so a day more is kept."""

HOT_MIN = timedelta(days=1)
DAYS_MAX = 36_500
"""A hundred years: what is meant to stay for ever says so like this."""

BUDGET_MIN = 256 << 20
"""Bytes; an empty database takes a tenth of it."""

EVENT, LEASE, AUDIT = "Event", "Lease", "audit"
STATEMENTS = frozenset({EVENT, LEASE, AUDIT})
"""What may go before its day or stay after it: the kinds, and the source, of
which an entry is a statement that no other rests on."""

WITH_REASON = frozenset({EVENT, AUDIT})
"""Those of which a rule may name the reason: of an Event, or the verb."""

NOWHERE = "none"
DROP, KEEP = "drop", "keep"


_Parts = tuple[str, str | None, int]


class PolicyError(ConfigError):
    """A policy contradicts itself, or has a value that cannot be."""

    code = "retention.policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What goes before its day, and after how many days."""

    name: str
    """``Event``, ``Lease`` for their silences, or ``audit``."""

    reason: str | None = None
    """Of an Event, or the verb of an audit record; None for any."""

    days: int

    @property
    def text(self) -> str:
        """Return it as it is written, without the days."""
        return (
            self.name if self.reason is None else f"{self.name}/{self.reason}"
        )

    @property
    def older_than(self) -> timedelta:
        """Return how old everything is that goes."""
        return timedelta(days=self.days)

    def document(self) -> Mapping[str, Any]:
        """Return it as the database is asked by it."""
        return {
            "rule": self.text,
            "name": self.name,
            "reason": self.reason,
            "days": self.days,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is kept, for how long, and where."""

    hot: timedelta = timedelta(days=7)
    """For how long whole days stay in the database."""

    place: str | None = None
    """Where days are archived; None where they are not."""

    unarchived: str = KEEP
    """``drop`` where days may be dropped that nobody archived."""

    budget: int | None = None
    """Bytes above which the oldest days go before their time."""

    longer: Mapping[str, int] = field(default_factory=dict)
    """What stays when its day is dropped, and for how many days: statements
    as a rule names them, and kinds of objects, of which the facts stay."""

    shorter: Sequence[Rule] = ()
    """What goes before its day."""

    def document(self) -> Mapping[str, Any]:
        """Return it as a notice states it."""
        return {
            "hot_days": round(self.hot / timedelta(days=1), 3),
            "archive": self.place,
            "unarchived": self.unarchived,
            "budget_bytes": self.budget,
            "longer": dict(self.longer),
            "shorter": {rule.text: rule.days for rule in self.shorter},
        }


def read_policy(
    *,
    hot: timedelta,
    place: str,
    unarchived: str,
    budget: int | None,
    longer: Sequence[str],
    shorter: Sequence[str] = (),
) -> Policy:
    """Return the policy of some settings.

    Args:
        hot: for how long days stay.
        place: of the archive; ``none`` for none.
        unarchived: ``keep`` or ``drop``.
        budget: in bytes; None for none.
        longer: ``KIND=DAYS``, ``NAME=DAYS`` or ``NAME/REASON=DAYS`` each, as
            ``Node=730`` or ``audit/delete=365``.
        shorter: ``NAME=DAYS`` or ``NAME/REASON=DAYS`` each, as
            ``audit/get=2``.

    Raises:
        PolicyError: it contradicts itself; the keys are named.
    """
    if hot < HOT_MIN:
        msg = "retention_hot must be a day (1d) or more"
        raise PolicyError(msg)
    if hot > timedelta(days=DAYS_MAX):
        msg = f"retention_hot must be {DAYS_MAX}d or less"
        raise PolicyError(msg)
    if unarchived not in {DROP, KEEP}:
        msg = f'retention_unarchived is "{unarchived}": write keep or drop'
        raise PolicyError(msg)
    if place == NOWHERE and unarchived != DROP:
        msg = (
            'retention_archive = "none" and retention_unarchived = "keep"'
            " contradict each other: nothing could ever be dropped. Name a"
            ' place, or say retention_unarchived = "drop"'
        )
        raise PolicyError(msg)
    if place != NOWHERE and unarchived == DROP:
        msg = (
            f'retention_archive = "{place}" and retention_unarchived = "drop"'
            " contradict each other: days would be dropped that the archive"
            ' lacks. Say retention_archive = "none", or leave the other out'
        )
        raise PolicyError(msg)
    if budget is not None and budget < BUDGET_MIN:
        msg = f"retention_budget must be {BUDGET_MIN >> 20}MB or more"
        raise PolicyError(msg)
    return Policy(
        hot=hot,
        place=None if place == NOWHERE else place,
        unarchived=unarchived,
        budget=budget,
        longer=(kept := _longer(longer, hot)),
        shorter=_shorter(shorter, hot, kept),
    )


def is_statement(text: str) -> bool:
    """Return whether a rule names entries, and not facts of a kind."""
    return text.partition("/")[0] in STATEMENTS


def _longer(longer: Sequence[str], hot: timedelta) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for one in longer:
        name, reason, days = _parts("retention_longer", one, "Node=730")
        text = one.rpartition("=")[0]
        if reason is not None and name not in WITH_REASON:
            msg = (
                f'retention_longer has "{one}": only of Event and audit can a'
                " part be named, as Event/REASON or audit/VERB"
            )
            raise PolicyError(msg)
        if timedelta(days=days) < hot:
            msg = (
                f'retention_longer "{one}" and retention_hot contradict each'
                " other: whole days stay until then. Name more days, or what"
                " goes before its day in retention_shorter"
            )
            raise PolicyError(msg)
        _once("retention_longer", text, days, found)
        found[text] = days
    _check_parts("retention_longer", found, int.__le__)
    return found


def _shorter(
    shorter: Sequence[str], hot: timedelta, longer: Mapping[str, int]
) -> Sequence[Rule]:
    found: dict[str, Rule] = {}
    for one in shorter:
        name, reason, days = _parts("retention_shorter", one, "audit/get=2")
        rule = Rule(name=name, reason=reason, days=days)
        if name not in STATEMENTS or (reason and name not in WITH_REASON):
            msg = (
                f'retention_shorter has "{one}": only Event, Event/REASON,'
                " Lease, audit and audit/VERB may go before their day;"
                " everything else stays as long as its day"
            )
            raise PolicyError(msg)
        if rule.older_than >= hot:
            msg = (
                f'retention_shorter "{one}" and retention_hot contradict each'
                " other: whole days go before it. Name fewer days, or leave"
                " it out"
            )
            raise PolicyError(msg)
        for text in {name, rule.text} & longer.keys():
            msg = (
                f'retention_shorter "{one}" and retention_longer'
                f' "{text}={longer[text]}" contradict each other: leave one'
                " out"
            )
            raise PolicyError(msg)
        known = {text: rule.days for text, rule in found.items()}
        _once("retention_shorter", rule.text, days, known)
        found[rule.text] = rule
    known = {text: rule.days for text, rule in found.items()}
    _check_parts("retention_shorter", known, int.__ge__)
    return tuple(found.values())


def _parts(setting: str, text: str, example: str) -> _Parts:
    """Return the name, the reason if one is named, and the days."""
    selected, _, days = text.rpartition("=")
    name, has_reason, reason = selected.partition("/")
    if (
        not name
        or not days.isascii()
        or not days.isdecimal()
        or int(days) < 1
        or bool(has_reason) != bool(reason)
    ):
        msg = (
            f'{setting} has "{text}": write NAME=DAYS or NAME/REASON=DAYS with'
            f" a day or more, as {example}"
        )
        raise PolicyError(msg)
    if int(days) > DAYS_MAX:
        msg = f'{setting} has "{text}": write {DAYS_MAX} days or fewer'
        raise PolicyError(msg)
    _check_case(setting, text, name)
    return name, reason or None, int(days)


def _check_case(setting: str, text: str, name: str) -> None:
    """See that a statement is written as it is: else it is a kind's name."""
    meant = {one.lower(): one for one in STATEMENTS}.get(name.lower(), name)
    if name != meant:
        msg = f'{setting} has "{text}": write "{meant}", not "{name}"'
        raise PolicyError(msg)


def _once(
    setting: str, text: str, days: int, known: Mapping[str, int]
) -> None:
    if text in known:
        msg = (
            f"{setting} names {text} twice, with {known[text]} and {days}"
            " days: leave one out"
        )
        raise PolicyError(msg)


def _check_parts(
    setting: str,
    found: Mapping[str, int],
    is_idle: Callable[[int, int], bool],
) -> None:
    """See that what names a part changes what its whole says."""
    for text, days in found.items():
        whole, is_part, _ = text.partition("/")
        if is_part and whole in found and is_idle(days, found[whole]):
            msg = (
                f'{setting} "{text}={days}" and "{whole}={found[whole]}"'
                f" contradict each other: the latter is of all {whole} and"
                " decides. Leave one out"
            )
            raise PolicyError(msg)
