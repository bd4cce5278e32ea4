"""The dictionaries of this release, and their numbers in a database.

A database has every dictionary that a payload or a fact uses.
"""

from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

import asyncpg

from recorder.store.statement import Statement

DICTIONARIES = Statement.of(
    "select sha256, dictionary_id from recorder.dictionary"
)
MAKE_DICTIONARY = Statement.of("""
    insert into recorder.dictionary (dictionary_id, sha256, bytes)
    select coalesce(max(dictionary_id), -1) + 1, :digest, :content
    from recorder.dictionary
    on conflict do nothing
""")


async def shipped_dictionaries(
    connection: asyncpg.Connection,
) -> dict[str, tuple[int, bytes]]:
    """Return the dictionaries by name; insert those that are missing."""
    contents = dict(shipped())
    numbers: dict[bytes, int] = dict(await DICTIONARIES.fetch(connection))
    for content in contents.values():
        digest = sha256(content).digest()
        while digest not in numbers:
            await MAKE_DICTIONARY.execute(
                connection, digest=digest, content=content
            )
            numbers = dict(await DICTIONARIES.fetch(connection))
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
