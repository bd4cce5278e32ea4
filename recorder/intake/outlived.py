"""Whether a list shows Events of which the log was not asked far enough back.

The log is asked for the Events of some hours, because a live one is no older
than its TTL. That is by our clock, which may have been set forward while
nobody recorded, and by a TTL that the API server does not tell. Where either
is wrong, a list shows Events as unknown that were taken long before.
"""

from collections.abc import Container, Iterable

import msgspec

from recorder.intake.streams import compare_versions

__all__ = ["shows_outlived"]


class _Metadata(msgspec.Struct):
    uid: str = ""
    resourceVersion: str = ""  # noqa: N815 - the API's own name


class _Item(msgspec.Struct):
    metadata: _Metadata


_ITEM = msgspec.json.Decoder(_Item)


def shows_outlived(
    items: Iterable[bytes], known: Container[str], taken: str
) -> bool:
    """Tell whether any item is unknown, and no newer than what was taken.

    Args:
        items: of a list of Events.
        known: uids that the log was found to hold.
        taken: the version up to which the stream was taken.
    """
    for raw in items:
        try:
            metadata = _ITEM.decode(raw).metadata
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue  # refused when it is taken
        if (
            metadata.uid
            and metadata.uid not in known
            and metadata.resourceVersion
            and compare_versions(metadata.resourceVersion, taken) <= 0
        ):
            return True
    return False
