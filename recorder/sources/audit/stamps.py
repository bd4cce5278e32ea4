"""When the API server made an audit record, by its own clock."""

from datetime import datetime

import msgspec

from recorder.classify.times import first_moment

__all__ = ["made_at"]


class _Stamps(msgspec.Struct, rename="camel"):
    stage_timestamp: str | None = None


_decode = msgspec.json.Decoder(_Stamps).decode


def made_at(record: bytes) -> datetime | None:
    """Return when a record was made; None if it does not say."""
    try:
        return first_moment(_decode(record).stage_timestamp)
    except (ValueError, RecursionError):
        return None
