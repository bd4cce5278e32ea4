"""Any observation that has a frame, for property tests."""

import json
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import strategies as st

from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    EpochBegan,
    InputRefused,
    ListPage,
    Polled,
    RequestFailed,
    StreamClosed,
    WatchFrame,
)
from recorder.model.reference import Resource

_texts = st.text(max_size=20)
_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_texts, inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """A JSON object as any API server might write it, without newlines."""
    value = draw(st.dictionaries(_texts, _values, max_size=4))
    text = json.dumps(
        value,
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": ")])),
    )
    return text.encode()


_zones = st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=30))])
_times = st.datetimes(
    min_value=datetime(1, 1, 3),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(9999, 12, 29),  # noqa: DTZ001
    timezones=_zones,
)
_parts = st.text("abcdefghijklmnopqrstuvwxyz0123456789.-", min_size=1)
_resources = st.builds(
    Resource, group=st.just("") | _parts, version=_parts, plural=_parts
)
_sources = st.sampled_from(["watch", "audit", "cloudevents", "slurm"])
_names = _texts.filter(lambda text: "\x00" not in text)
_common = {"observed_at": _times, "source": _sources}
_items = st.lists(documents(), max_size=4)

observations = st.one_of(
    st.builds(
        ListPage,
        **_common,
        resource=_resources,
        resource_version=_names,
        items=_items,
        more=st.booleans(),
        kind=st.none() | _names,
        made=st.booleans(),
    ),
    st.builds(
        WatchFrame,
        **_common,
        resource=_resources,
        type=st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]),
        object=documents(),
        renewed=st.booleans(),
    ),
    st.builds(StreamClosed, **_common, resource=_resources, reason=_texts),
    st.builds(
        RequestFailed,
        **_common,
        resource=_resources,
        status=st.integers(0, 999),
        reason=_texts,
    ),
    st.builds(
        InputRefused,
        **_common,
        resource=st.none() | _resources,
        head=st.binary(max_size=64),
        sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
        length=st.integers(0, 2**63 - 1),
        reason=_texts,
    ),
    st.builds(EpochBegan, **_common, reason=_texts),
    st.builds(AuditRecorded, **_common, event=documents()),
    st.builds(CloudEventPosted, **_common, event=documents()),
    st.builds(Polled, **_common, resource=_names, items=_items),
)
