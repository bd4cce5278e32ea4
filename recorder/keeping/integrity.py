"""Logs checkpointed, proven and verified with the keys and places of settings.

A place of checkpoints shows every log that was ever signed. One that is
neither in this database nor, with a registry, in another of its databases was
removed with its rows.
"""

import asyncio
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

import asyncpg

from recorder.archive.errors import PlaceError as ArchiveAwayError
from recorder.archive.place import open_place as open_archive
from recorder.facts.coverage.ports import Log
from recorder.intake.progress import Progress
from recorder.integrity.chain import Problem, Witnessed
from recorder.integrity.notes import Checkpoint, SignedNote
from recorder.integrity.proof import Proof
from recorder.integrity.verified import Verified, VerifiedDatabase
from recorder.keeping.checking import ResumeFile
from recorder.keeping.checkpointing import (
    DATABASE,
    MadeCheckpoint,
    make_checkpoint,
    places_of,
    witnessed,
    witnesses_of,
)
from recorder.keeping.checkpoints import PlaceError
from recorder.keeping.continuing import lacking
from recorder.keeping.proving import prove
from recorder.keeping.registry import read_registry, shown
from recorder.keeping.secret_files import KeyFileError
from recorder.keeping.signing_key import (
    load_signing_key,
    own_keys,
    trust,
    trusted_keys,
)
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_archive import ArchivedLog, verify_archived
from recorder.keeping.verifying_database import verify, verify_database
from recorder.model.errors import RecorderError
from recorder.model.reference import EntryName
from recorder.model.settings import Settings
from recorder.store.long_work import connect_to
from recorder.store.read_batches import (
    origins,
    read_end,
    stored_notes,
    written_notes,
)
from recorder.store.read_kept import lost_logs
from recorder.store.translate import translate_errors

NOTHING: Mapping[str, set[Checkpoint]] = {}
ORIGIN = "kube-recorder/"
MISSING = "look for logs that are missing"


@dataclass(slots=True)
class Checkpointing:
    """Checkpoints of the log that this process writes."""

    settings: Settings
    dsn: str
    progress: Progress
    _batches: int = 0

    async def run(self) -> None:
        """Make one as often as the settings say, until cancelled."""
        every = self.settings.checkpoint_every.total_seconds()
        while True:
            await asyncio.sleep(every)
            if self.progress.state == "recording":
                await self.now()

    async def now(self) -> None:
        """Make one, if the log has grown; what fails is in the progress."""
        progress = self.progress
        if not progress.log or progress.batches == self._batches:
            return
        before = progress.batches
        try:
            made = await checkpoint_of(self.settings, self.dsn, progress.log)
        except RecorderError as exc:
            progress.checkpoint_failed(str(exc))
            return
        if made is None:
            return
        for trouble in made.troubles:
            progress.checkpoint_failed(str(trouble))
        if not made.troubles:
            self._batches = before
            progress.checkpointed(datetime.now(UTC))


async def checkpoint_of(
    settings: Settings, dsn: str, log: int
) -> MadeCheckpoint | None:
    """Make a checkpoint of a log; None where it holds nothing.

    Raises:
        RecorderError: the key, a place's address or the database.
    """
    key = load_signing_key(settings)
    now = datetime.now(UTC)
    trust(settings, key, now)
    async with _connected(dsn, "make a checkpoint") as connection:
        return await make_checkpoint(
            connection,
            log,
            key,
            places_of(settings),
            now,
            witnesses=witnesses_of(settings),
            trusted=[one.public for one in trusted_keys(settings)],
        )


async def proof_of(settings: Settings, dsn: str, name: EntryName) -> Proof:
    """Return the proof of an entry, checked with the keys of the settings.

    Raises:
        RecorderError: it cannot be proven.
    """
    keys = own_keys(settings)
    async with _connected(dsn, "prove an entry") as connection:
        return await prove(connection, name, keys)


async def verified(
    settings: Settings,
    dsn: str,
    log: Log,
    how: Verifying,
    stop: asyncio.Event,
) -> Verified:
    """Verify a log against its checkpoints in all places.

    Raises:
        RecorderError: the trusted keys, a place's address or the database.
    """
    keys = [key.public for key in trusted_keys(settings)]
    found, problems = await _witnessed(settings, dsn, log.id, keys)
    how = replace(how, checkpoints=found, signed=bool(keys))
    done = await verify(dsn, log, how, stop)
    done.note_all(problems)
    return done


def resume_file(
    settings: Settings, log: int, *, again: bool
) -> ResumeFile | None:
    """Return the progress from which a run over a log is resumed.

    None where there is no key to sign it with; none is made. With ``again``
    what is there is removed.
    """
    path = settings.data_dir / f"verify-{log}.json"
    if again:
        path.unlink(missing_ok=True)
    key = settings.signing_key_file or settings.data_dir / "signing.key"
    if not path.parent.is_dir() or not key.exists():
        return None
    try:
        return ResumeFile(path, load_signing_key(settings))
    except KeyFileError:
        # Of another user, who may resume what is theirs.
        return None


async def verified_database(dsn: str) -> VerifiedDatabase:
    """Verify what holds the logs, as the role of an address sees it.

    Raises:
        RecorderError: the database.
    """
    async with _connected(dsn, "verify the database") as connection:
        return await verify_database(connection, _role_of(dsn))


def _role_of(dsn: str) -> Collection[str]:
    name = urlsplit(dsn).username
    return () if name is None else (unquote(name),)


def archived_logs(place: str) -> Sequence[ArchivedLog]:
    """Return the logs of an archive.

    Raises:
        ArchiveError: it is none.
        PlaceError: it cannot be read.
    """
    return ArchivedLog.all_of(open_archive(place))


async def verified_archive(
    settings: Settings,
    archived: ArchivedLog,
    how: Verifying,
    stop: asyncio.Event,
) -> Verified:
    """Verify a log of an archive against its checkpoints in all places.

    Raises:
        RecorderError: the trusted keys, or a place's address.
    """
    keys = [key.public for key in trusted_keys(settings)]
    log = archived.log
    found, problems = await _in_places(settings, log.uid, log.origin, keys)
    how = replace(how, checkpoints=found, signed=bool(keys))
    done = await verify_archived(archived, how, stop)
    done.note_all(problems)
    return done


async def _witnessed(
    settings: Settings, dsn: str, log: int, keys: Sequence[bytes]
) -> tuple[list[Witnessed], list[Problem]]:
    async with _connected(dsn, "read the checkpoints") as connection:
        end = await read_end(connection, log)
        stored = [
            SignedNote.parse(text)
            for text in await stored_notes(connection, log)
        ]
        written = await written_notes(connection, log)
    uid, origin = str(end.identity.uid), end.identity.origin
    found, problems = witnessed(stored, origin, keys, DATABASE)
    counted = {one.checkpoint for one in found}
    noted = defaultdict(set)
    for place, text in written:
        checkpoint = Checkpoint.parse(SignedNote.parse(text).text)
        if checkpoint in counted:
            noted[place].add(checkpoint)
    more, wrong = await _in_places(settings, uid, origin, keys, noted)
    return found + more, problems + wrong


async def _in_places(
    settings: Settings,
    uid: str,
    origin: str,
    keys: Sequence[bytes],
    noted: Mapping[str, set[Checkpoint]] = NOTHING,
) -> tuple[list[Witnessed], list[Problem]]:
    """Return the checkpoints of all places, and what is wrong there.

    ``noted`` has what the database knows to have been written to them.
    """
    found: list[Witnessed] = []
    problems: list[Problem] = []
    for kept in places_of(settings):
        place = kept.place
        written = frozenset(noted.get(kept.noted or "", ()))
        try:
            notes, damaged = await place.read(uid)
        except PlaceError as exc:
            if settings.checkpoint_places:
                problems.append(Problem(kind="place-away", says=str(exc)))
            else:
                # The folder is made when it is first written to.
                problems += lacking(place.name, written, [])
            continue
        if damaged:
            says = f"{damaged} checkpoints in {place.name} are damaged"
            problems.append(Problem(kind="checkpoint-damaged", says=says))
        more, wrong = witnessed(notes, origin, keys, place.name)
        found += more
        problems += wrong
        problems += lacking(place.name, written, more)
    return found, problems


@asynccontextmanager
async def _connected(
    dsn: str, action: str
) -> AsyncIterator[asyncpg.Connection]:
    with translate_errors(action):
        connection = await connect_to(dsn)
        try:
            yield connection
        finally:
            connection.terminate()


async def missing_logs(settings: Settings, dsn: str) -> Sequence[Verified]:
    """Return the logs that were signed with a trusted key and are missing.

    Without a key, our checkpoints cannot be distinguished from others.

    Raises:
        RecorderError: the trusted keys, a place's address or the database.
    """
    here, lost = await _here(dsn)
    found = [_lost(*one) for one in lost]
    known = {one.origin for one in found}
    gone, problems = await _shown_elsewhere(settings, here | known)
    if gone:
        # Without those that began, and were signed, while places were read.
        here, _ = await _here(dsn)
        there, away = await _in_registry(settings)
        found += [
            _missing(one, away)
            for one in gone
            if one.checkpoint.origin not in here | there
        ]
    if problems and not here:
        # Otherwise each log has them.
        found.append(_verified("", 0, problems))
    return found


async def _here(
    dsn: str,
) -> tuple[set[str], Sequence[tuple[int, str | None]]]:
    """Return the logs of the database, and those with rows and no own."""
    async with _connected(dsn, MISSING) as connection:
        return set(await origins(connection)), await lost_logs(connection)


async def _shown_elsewhere(
    settings: Settings, known: set[str]
) -> tuple[Sequence[Witnessed], Sequence[Problem]]:
    """Return the newest checkpoint of each other log that places show."""
    keys = own_keys(settings)
    newest: dict[str, Witnessed] = {}
    problems = []
    for kept in places_of(settings) if keys else ():
        try:
            uids = await kept.place.logs()
            for uid in uids:
                origin = f"{ORIGIN}{uid}"
                if origin in known:
                    continue
                notes, _ = await kept.place.read(uid)
                name = kept.place.name
                for one in witnessed(notes, origin, keys, name)[0]:
                    other = newest.setdefault(origin, one)
                    if one.checkpoint.batches > other.checkpoint.batches:
                        newest[origin] = one
        except PlaceError as exc:
            if settings.checkpoint_places:
                problems.append(Problem(kind="place-away", says=str(exc)))
    return [newest[origin] for origin in sorted(newest)], problems


async def _in_registry(settings: Settings) -> tuple[set[str], Sequence[str]]:
    """Return the logs of all databases of the registry, and those away."""
    if settings.clusters_file is None:
        return set(), ()
    there: set[str] = set()
    away = []
    for url in sorted(set(read_registry(settings.clusters_file).values())):
        try:
            async with _connected(url, MISSING) as connection:
                there |= set(await origins(connection))
        except RecorderError:
            away.append(shown(url))
    return there, away


def unreadable_archive(place: str, why: RecorderError) -> Verified:
    """Return that nothing in an archive can be verified."""
    is_away = isinstance(why, ArchiveAwayError)
    kind = "archive-away" if is_away else "archive-missing"
    return _verified(place, 0, [Problem(kind=kind, says=str(why))])


def _missing(one: Witnessed, away: Sequence[str]) -> Verified:
    checkpoint = one.checkpoint
    where = "this database" if not away else "any database that answers"
    says = (
        f"the checkpoint in {one.place} commits to {checkpoint.batches}"
        f" batches of {checkpoint.origin}, and {where} has no such log"
    )
    if away:
        says += f"; {', '.join(away)} does not answer"
    problem = Problem(kind="log-missing", batch=1, says=says)
    return _verified(checkpoint.origin, 0, [problem])


def _lost(number: int, note: str | None) -> Verified:
    origin, of = "", f"log {number}"
    if note is not None:
        origin = Checkpoint.parse(SignedNote.parse(note).text).origin
        of += f" ({origin})"
    says = f"the database has rows of {of}, and no such log"
    problem = Problem(kind="log-missing", batch=1, says=says)
    return _verified(origin, number, [problem])


def _verified(
    origin: str, number: int, problems: Sequence[Problem]
) -> Verified:
    return Verified(
        log=number,
        cluster="",
        origin=origin,
        size=0,
        batches=0,
        signed=True,
        problems=list(problems),
    )
