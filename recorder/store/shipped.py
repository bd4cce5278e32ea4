"""The dictionaries of this release, and their numbers in a database.

A database keeps every dictionary that a payload or a fact names.
"""

from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

import asyncpg

__all__ = ["shipped", "shipped_dictionaries"]

DICTIONARIES = "select sha256, dictionary_id from recorder.dictionary"
MAKE_DICTIONARY = """
    insert into recorder.dictionary (dictionary_id, sha256, bytes)
    select coalesce(max(dictionary_id), -1) + 1, $1, $2
    from recorder.dictionary
    on conflict do nothing
"""


async def shipped_dictionaries(
    connection: asyncpg.Connection,
) -> dict[str, tuple[int, bytes]]:
    """Return the dictionaries by name, after they were put where they lack."""
    contents = dict(shipped())
    numbers = dict(await connection.fetch(DICTIONARIES))
    for content in contents.values():
        digest = sha256(content).digest()
        while digest not in numbers:
            await connection.execute(MAKE_DICTIONARY, digest, content)
            numbers = dict(await connection.fetch(DICTIONARIES))
    return {
        name: (numbers[sha256(content).digest()], content)
        for name, content in contents.items()
    }


def shipped() -> Sequence[tuple[str, bytes]]:
    """Return the dictionaries of this release, by name."""
    folder = files("recorder.store") / "dictionaries"
    if not folder.is_dir():
        return []
    return [
        (file.name.removesuffix(".zdict"), file.read_bytes())
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".zdict")
    ]
