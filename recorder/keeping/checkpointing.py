"""Checkpoints of a log: made, kept, and recognized.

The tree of the log up to its newest batch is read from its head, signed, and
written to every place. A place that cannot be written costs the others
nothing; the next checkpoint commits to all that this one would have.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

import asyncpg
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

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
from recorder.keeping.checkpoints import Place, PlaceError, open_place
from recorder.keeping.checkpoints.witness import Witness
from recorder.keeping.continuing import check_continues, prove_growth
from recorder.model.errors import LogError
from recorder.model.settings import Settings
from recorder.store.read_batches import LogEnd, newest_notes, read_end
from recorder.store.statement import Statement

KEEP = Statement.of("""
    insert into recorder.checkpoint (log_id, batches, note, places, peaks)
    values (:log, :batches, :note, :places, :peaks) on conflict do nothing
""")
DATABASE = "the database"
DEFAULT = "checkpoints"
"""The name of the place in the data folder, wherever that folder is."""


class NotSealedError(LogError):
    """A log has batches that are older than hashes."""

    code = "log.not_sealed"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCheckpoint:
    """A checkpoint, and where it was written."""

    checkpoint: Checkpoint
    note: SignedNote
    key: VerifierKey
    written: Sequence[str]
    """The places that hold it."""

    troubles: Sequence[PlaceError] = field(default=())


@dataclass(frozen=True, slots=True)
class KeptPlace:
    """A place, and its name in the database."""

    place: Place
    noted: str | None
    """None if its content may be lost: in a data folder beside an external
    database, which may be removed with its container."""


def places_of(settings: Settings) -> Sequence[KeptPlace]:
    """Return the places of the settings.

    Raises:
        ConfigError: there is no such kind of place.
    """
    if settings.checkpoint_places:
        return [
            KeptPlace(open_place(address), address)
            for address in settings.checkpoint_places
        ]
    embedded = settings.database_url is None and settings.clusters_file is None
    default = open_place(str(settings.data_dir / "checkpoints"))
    return [KeptPlace(default, DEFAULT if embedded else None)]


def witnesses_of(settings: Settings) -> Sequence[Witness]:
    """Return the witnesses of the settings.

    Raises:
        ConfigError: one has another form.
    """
    return [Witness.parse(text) for text in settings.checkpoint_witnesses]


async def make_checkpoint(  # noqa: PLR0913 - places, keys and who cosigns
    connection: asyncpg.Connection,
    log: int,
    key: Ed25519PrivateKey,
    places: Sequence[KeptPlace],
    now: datetime,
    *,
    witnesses: Sequence[Witness] = (),
    trusted: Sequence[bytes] = (),
) -> MadeCheckpoint | None:
    """Commit to a log as it is now; None where it has no batch.

    Raises:
        NotSealedError: it has older batches that have no hashes.
        ForkedError: it does not continue what was signed before.
    """
    own = key.public_key().public_bytes_raw()
    before = await read_end(connection, log)
    last = await _last(connection, before, places, [*trusted, own])
    # Behind what others signed meanwhile, for the log only grows.
    end = await read_end(connection, log)
    if end.batches == 0 and not last:
        return None
    if end.peaks is None:
        msg = (
            f"cannot make a checkpoint of log {log}: it holds batches that an"
            " older release wrote without hashes; `recorder verify` seals"
            " them"
        )
        raise NotSealedError(msg)
    await check_continues(connection, end, last)
    origin = end.identity.origin
    root = CompactRange.unpack(0, end.batches, end.peaks).root()
    checkpoint = Checkpoint(origin, end.batches, root)
    note, troubles = await _cosigned(
        connection, end, sign(checkpoint.text(), key, origin), witnesses
    )
    written = []
    for kept in places:
        try:
            await kept.place.write(str(end.identity.uid), note, now)
        except PlaceError as exc:
            troubles.append(exc)
        else:
            written.append(kept)
    noted = [kept.noted for kept in written if kept.noted is not None]
    await KEEP.execute(
        connection,
        log=log,
        batches=end.batches,
        note=str(note),
        places=noted,
        peaks=end.peaks,
    )
    return MadeCheckpoint(
        checkpoint=checkpoint,
        note=note,
        key=VerifierKey(origin, own),
        written=[kept.place.name for kept in written],
        troubles=troubles,
    )


async def _last(
    connection: asyncpg.Connection,
    end: LogEnd,
    places: Sequence[KeptPlace],
    keys: Sequence[bytes],
) -> list[Witnessed]:
    """Return the newest checkpoint of each place, and of the database.

    A place that may be written and not read is left to `recorder verify`.
    """
    stored = await newest_notes(connection, end.log)
    shown = [(DATABASE, [SignedNote.parse(text) for text in stored])]
    for kept in places:
        with suppress(PlaceError):
            notes = await kept.place.newest(str(end.identity.uid))
            shown.append((kept.place.name, [*notes]))
    origin = end.identity.origin
    newest = (_newest(notes, origin, keys, name) for name, notes in shown)
    return [one for one in newest if one is not None]


def _newest(
    notes: Iterable[SignedNote],
    origin: str,
    keys: Sequence[bytes],
    place: str,
) -> Witnessed | None:
    """Return the largest checkpoint that counts; few are checked."""
    by_size: list[tuple[int, SignedNote]] = []
    for note in notes:
        with suppress(NoteError):
            by_size.append((Checkpoint.parse(note.text).batches, note))
    for _, note in sorted(by_size, key=lambda one: -one[0]):
        found, _ = witnessed([note], origin, keys, place)
        if found:
            return found[0]
    return None


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

    Without any key none can be distinguished from a forgery, and all count.
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
