"""Checkpoints of a log: made, kept, and known again.

The tree of the log up to its newest batch is read from its head, signed, and
written to every place. A place that cannot be written costs the others
nothing; the next checkpoint commits to all that this one would have.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import asyncpg
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

from recorder.admin.growth import prove_growth
from recorder.checkpoints import Place, PlaceError, open_place
from recorder.checkpoints.witness import Witness
from recorder.errors import LogError
from recorder.integrity.chain import Problem, Witnessed
from recorder.integrity.notes import (
    Checkpoint,
    NoteError,
    SignedNote,
    VerifierKey,
    sign,
    signed_by_any,
)
from recorder.integrity.tree import CompactRange
from recorder.settings import Settings
from recorder.store.read_batches import LogEnd, read_end

__all__ = [
    "Made",
    "NotSealedError",
    "make_checkpoint",
    "places_of",
    "witnessed",
    "witnesses_of",
]

KEEP = """
    insert into recorder.checkpoint (log_id, batches, note)
    values ($1, $2, $3) on conflict do nothing
"""


class NotSealedError(LogError):
    """A log holds batches of before there were hashes."""

    code = "log.not_sealed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A checkpoint, and what became of it."""

    checkpoint: Checkpoint
    note: SignedNote
    key: VerifierKey
    written: Sequence[str]
    """The places that hold it."""

    troubles: Sequence[PlaceError] = field(default=())


def places_of(settings: Settings) -> Sequence[Place]:
    """Return the places of the settings.

    Raises:
        ConfigError: there is no such kind of place.
    """
    addresses = settings.checkpoint_places or (
        str(settings.data_dir / "checkpoints"),
    )
    return [open_place(address) for address in addresses]


def witnesses_of(settings: Settings) -> Sequence[Witness]:
    """Return the witnesses of the settings.

    Raises:
        ConfigError: one has another form.
    """
    return [Witness.parse(text) for text in settings.checkpoint_witnesses]


async def make_checkpoint(
    connection: asyncpg.Connection,
    log: int,
    key: Ed25519PrivateKey,
    places: Sequence[Place],
    now: datetime,
    *,
    witnesses: Sequence[Witness] = (),
) -> Made | None:
    """Commit to a log as it is now; None where it has no batch.

    Raises:
        NotSealedError: it has older batches that have no hashes.
    """
    end = await read_end(connection, log)
    if end.batches == 0:
        return None
    if end.peaks is None:
        msg = (
            f"cannot make a checkpoint of log {log}: it holds batches that an"
            " older release wrote without hashes; `recorder verify` seals"
            " them"
        )
        raise NotSealedError(msg)
    origin = end.identity.origin
    root = CompactRange.unpack(0, end.batches, end.peaks).root()
    checkpoint = Checkpoint(origin, end.batches, root)
    note, troubles = await _cosigned(
        connection, end, sign(checkpoint.text(), key, origin), witnesses
    )
    await connection.execute(KEEP, log, end.batches, str(note))
    written = []
    for place in places:
        try:
            await place.write(str(end.identity.uid), note, now)
        except PlaceError as exc:
            troubles.append(exc)
        else:
            written.append(place.name)
    return Made(
        checkpoint=checkpoint,
        note=note,
        key=VerifierKey(origin, key.public_key().public_bytes_raw()),
        written=written,
        troubles=troubles,
    )


async def _cosigned(
    connection: asyncpg.Connection,
    end: LogEnd,
    note: SignedNote,
    witnesses: Sequence[Witness],
) -> tuple[SignedNote, list[PlaceError]]:
    """Return a checkpoint as the witnesses that answer have cosigned it."""

    async def prove(old: int) -> Sequence[bytes]:
        return await prove_growth(connection, end, old)

    troubles = []
    for witness in witnesses:
        try:
            note = await witness.cosign(note, end.batches, prove)
        except PlaceError as exc:
            troubles.append(exc)
    return note, troubles


def witnessed(
    notes: Iterable[SignedNote],
    origin: str,
    keys: Sequence[bytes],
    place: str,
) -> tuple[list[Witnessed], list[Problem]]:
    """Return the checkpoints of a place that count, and what is wrong there.

    Without any key none can be told from a forgery, and all of them count.
    """
    found: list[Witnessed] = []
    problems: list[Problem] = []
    for note in notes:
        try:
            checkpoint = Checkpoint.parse(note.text)
            if checkpoint.origin != origin:
                problems.append(_foreign(checkpoint, place))
            elif not keys or signed_by_any(note, keys, origin):
                found.append(Witnessed(checkpoint, place))
            else:
                problems.append(_untrusted(checkpoint, place))
        except NoteError as exc:
            says = f"a checkpoint in {place} is not as it was signed: {exc}"
            problems.append(Problem(kind="checkpoint-forged", says=says))
    return found, problems


def _foreign(checkpoint: Checkpoint, place: str) -> Problem:
    return Problem(
        kind="checkpoint-foreign",
        says=f'a checkpoint in {place} is of another log, "'
        f'{checkpoint.origin}"',
    )


def _untrusted(checkpoint: Checkpoint, place: str) -> Problem:
    return Problem(
        kind="checkpoint-untrusted",
        batch=checkpoint.batches,
        says=f"the checkpoint of {checkpoint.batches} batches in {place} is"
        " not signed by a trusted key",
    )
