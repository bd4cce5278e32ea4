"""What two readings of the counters prove about the time in between.

A process that counted no drops dropped nothing. So each API server is judged
for its own records: one that does not respond, or is another process than
before, leaves its records uncertain, and one that was never seen leaves all.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from recorder.model.moment import written
from recorder.sources.audit.counted import (
    Counted,
    Round,
    identify,
    last_of,
    seen_last,
)

LOST = "audit records between the two"


class Proof(NamedTuple):
    """What counters prove about a time in which no records were received."""

    proved: str
    possible: str | None
    """What may be missing; None if nothing is."""


class _Share(NamedTuple):
    """What is known of the records of one API server."""

    says: str
    server: str
    dropped: int | None
    """None where it is unknown."""


def prove(before: Sequence[Counted], now: Round, leases: int | None) -> Proof:
    """Compare the counters before a time without a receiver with those now."""
    identify(before, now)
    shares = list(_shares(before, now))
    many = _unlisted(len(now.counted) + len(now.unread), leases)
    says = "; ".join([*(share.says for share in shares), *many])
    if all(share.dropped is None for share in shares):
        says = f"nothing: {says}"
    possible = LOST if many else _possible(shares)
    if possible is None:
        says += ": nothing is missing"
    return Proof(says, possible)


def gone_since(before: Sequence[Counted], now: Round) -> Iterator[Counted]:
    """Yield the processes of the last round that are missing in this one."""
    for one in seen_last(before):
        if one.server not in now.unread and last_of(now.counted, one) is None:
            yield one


def _shares(before: Sequence[Counted], now: Round) -> Iterator[_Share]:
    for counted in now.counted:
        yield _share(counted, last_of(before, counted))
    for address, why in now.unread.items():
        yield _Share(
            f"{_named(address)} could not be read: {why}", address, None
        )
    answering = {counted.server for counted in now.counted}
    for one in gone_since(before, now):
        if one.server not in answering:
            name = _named(one.server, or_else="an API server")
            says = f"{name} is not there any more"
            yield _Share(says, one.server, None)


def _share(counted: Counted, last: Counted | None) -> _Share:
    if last is None:
        name = _named(counted.server, or_else="the API server that answers")
        since = _moment(counted.started)
        says = f"{name} started at {since}, and was not read before"
        return _Share(says, counted.server, None)
    dropped = sum(counted.dropped_since(last).values())
    made = max(counted.events - last.events, 0)
    says = (
        f"{_named(counted.server)}, the same process, made {made} audit"
        f" records since {_moment(last.at)} and counted {dropped} as dropped"
    )
    return _Share(says, counted.server, dropped)


def _unlisted(known: int, leases: int | None) -> list[str]:
    """Report that there may be API servers that were not read."""
    if leases is None:
        return ["how many there are is unknown"]
    if leases <= known:
        return []
    if known == 1:
        return [f"it is one of {leases}"]
    return [f"they are {known} of {leases}"]


def _possible(shares: Iterable[_Share]) -> str | None:
    dropped, unknown = 0, list[str]()
    for share in shares:
        if share.dropped is not None:
            dropped += share.dropped
        elif not share.server:
            return LOST
        else:
            unknown.append(_named(share.server))
    parts = [f"at most {dropped} audit records"] if dropped else []
    parts += [f"audit records of {name}" for name in unknown]
    return ", ".join(parts) or None


def _named(server: str, or_else: str = "the API server") -> str:
    return f"the API server {server}" if server else or_else


def _moment(seconds: float) -> str:
    return written(datetime.fromtimestamp(seconds, UTC))
