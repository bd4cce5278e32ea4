"""Logs of reads, which are of no cluster."""

PREFIX = "reads:"


def uid_of_reads(name: str) -> str:
    """Return what a log of reads has instead of the UID of a cluster."""
    return PREFIX + name


def is_of_reads(uid: str) -> bool:
    """Return whether a log of this UID holds reads."""
    return uid.startswith(PREFIX)
