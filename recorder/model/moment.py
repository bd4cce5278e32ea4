"""Times as the contract writes them: RFC 3339, UTC, microseconds."""

from datetime import UTC, datetime

__all__ = ["written"]


def written(at: datetime) -> str:
    """Write a time, for example ``2026-11-21T03:18:00.000000Z``."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"
