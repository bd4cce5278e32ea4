"""Samples of metrics that are kept with an incident: the claim they are in.

A claim of type `metrics.range` has what a metrics store answered about one
node and one window: each series by columns, and before them a summary of each
in one text, since the fact of a claim keeps only its first parts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Annotated, Any, Final

import msgspec

from recorder.model.facts import Claimed
from recorder.model.moment import written

METRICS: Final = "metrics.range"
"""The type of the claim."""

SPAN_MAX: Final = timedelta(hours=2)
"""Of the window of a claim."""

SUMMARIES_MAX: Final = 200
"""Fewer than the parts of a claim that a fact keeps."""

HIGH: Final = 0.9
"""The share of a rise from which on a value counts as high."""

ALIGNED: Final = 0.05
"""How far, in steps, a sample may be off its place in a column."""


class Series(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The samples of one series, in order of time."""

    name: str
    labels: dict[str, str] = {}
    """The labels that distinguish it from the others of its node."""

    start: float
    """Seconds since 1970."""

    step: float = 0.0
    """Seconds; 0 where the samples have no common step."""

    values: Sequence[float | None]
    """One for each step; null where there is no sample."""

    at: Sequence[float] = ()
    """Seconds after the start of each value, without a common step."""

    def samples(self) -> Iterator[tuple[float, float]]:
        """Yield the time of each sample, in seconds since 1970, and value."""
        after = self.at or [n * self.step for n in range(len(self.values))]
        for seconds, value in zip(after, self.values, strict=True):
            if value is not None:
                yield self.start + seconds, value


class Summary(msgspec.Struct, frozen=True, array_like=True):
    """What a series did in its window."""

    name: str
    thing: str
    """What it is about on its node, such as `3` for a GPU; empty for the
    node."""

    first: float
    last: float
    lowest: float
    highest: float
    high_at: float
    """When it was first in the upper tenth of its range; seconds since 1970.
    """

    changed_at: float | None
    """When it changed first; null if it never did."""

    changed_to: float
    """The value then; the first one if it never changed."""

    ended_at: float
    """Its last sample."""


_read_summary = msgspec.json.Decoder(Summary).decode


Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Kept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer of a metrics store about a node, without the samples."""

    incident: str
    node: str
    begin: Moment
    end: Moment
    peer_of: str | None = None
    """The node whose peer it is; null for a node of the incident."""

    peer: str | None = None
    """The healthy node of the same gang that was asked about as well."""

    peer_highest: dict[str, float] = {}
    """The highest value of each metric of that node, by its name."""

    lacking: dict[str, str] = {}
    """Why metrics have no samples, by their names."""

    trouble: str | None = None
    """Why the store did not answer at all."""


def series_of(
    name: str,
    labels: Mapping[str, str],
    samples: Sequence[tuple[float, float]],
) -> Series:
    """Return the columns of samples, which are in order of time."""
    start = samples[0][0]
    values = [value for _, value in samples]
    apart = sorted(
        round(later - earlier, 3)
        for (earlier, _), (later, _) in pairwise(samples)
    )
    step = apart[len(apart) // 2] if apart else 0.0
    places = [round((at - start) / step) for at, _ in samples] if step else []
    aligned = places and all(
        abs(start + place * step - at) <= ALIGNED * step
        for place, (at, _) in zip(places, samples, strict=True)
    )
    sparse = aligned and places[-1] >= 2 * len(places)
    if not aligned or sparse or len(set(places)) < len(places):
        return Series(
            name=name,
            labels={**labels},
            start=start,
            values=values,
            at=[round(at - start, 3) for at, _ in samples],
        )
    column: list[float | None] = [None] * (places[-1] + 1)
    for place, value in zip(places, values, strict=True):
        column[place] = value
    return Series(
        name=name, labels={**labels}, start=start, step=step, values=column
    )


def summary_of(series: Series) -> Summary:
    """Return what a series did."""
    samples = [*series.samples()]
    values = [value for _, value in samples]
    lowest, highest = min(values), max(values)
    limit = lowest + HIGH * (highest - lowest)
    changed = next(
        (
            later
            for earlier, later in pairwise(samples)
            if later[1] != earlier[1]
        ),
        None,
    )
    return Summary(
        name=series.name,
        thing=" ".join(series.labels.values()),
        first=values[0],
        last=values[-1],
        lowest=lowest,
        highest=highest,
        high_at=next(at for at, value in samples if value >= limit),
        changed_at=None if changed is None else changed[0],
        changed_to=values[0] if changed is None else changed[1],
        ended_at=samples[-1][0],
    )


def data_of(kept: Kept, series: Iterable[Series]) -> Mapping[str, Any]:
    """Return the data of the claim; the summaries come before the samples."""
    every = [*series]
    summaries = [
        msgspec.json.encode(summary_of(one)).decode()
        for one in every[:SUMMARIES_MAX]
    ]
    return {
        **msgspec.to_builtins(kept, builtin_types=(datetime,)),
        "begin": written(kept.begin),
        "end": written(kept.end),
        "summaries": summaries,
        "series": msgspec.to_builtins(every),
    }


def kept_of(claim: Claimed) -> Kept | None:
    """Return what a claim says was asked; None if it is no such claim."""
    if claim.type != METRICS:
        return None
    try:
        return msgspec.convert(claim.data, Kept, strict=False)
    except msgspec.ValidationError:
        return None


class _Claim(msgspec.Struct):
    type: str
    data: Kept


def lost_of(raw: bytes, at: datetime) -> Kept | None:
    """Return which metrics a claim says were lost; None if it says of none.

    Args:
        raw: the document of any claim.
        at: when it was posted; its window ended before.
    """
    if b'"trouble"' not in raw:
        return None
    try:
        claim = msgspec.json.decode(raw, type=_Claim)
    except (msgspec.MsgspecError, ValueError):
        return None
    kept = claim.data
    is_lost = claim.type == METRICS and bool(kept.trouble)
    is_sound = timedelta() <= kept.end - kept.begin <= SPAN_MAX
    return kept if is_lost and is_sound and kept.end <= at else None


def summaries_of(claim: Claimed, names: Iterable[str]) -> Sequence[Summary]:
    """Return the summaries of metrics; what is malformed is left out.

    Those of other metrics are not decoded: a claim has some 100.
    """
    listed = claim.data.get("summaries") if _is_object(claim.data) else None
    beginnings = tuple(f'["{name}",' for name in names)
    found = []
    for text in listed if isinstance(listed, list) else ():
        if not isinstance(text, str) or not text.startswith(beginnings):
            continue
        try:
            found.append(_read_summary(text))
        except msgspec.MsgspecError:
            continue
    return found


def _is_object(data: object) -> bool:
    return isinstance(data, dict)
