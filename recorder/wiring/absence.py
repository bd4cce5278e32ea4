"""Logs that were signed and that no database has, put together.

A place of checkpoints shows every log that was ever signed. One that is
neither in this database nor, with a registry, in another of its databases
was removed, rows and all.
"""

from collections.abc import Sequence

from recorder.admin.checkpointing import places_of, witnessed
from recorder.admin.signing_key import own_keys
from recorder.archive.errors import PlaceError as Away
from recorder.checkpoints import PlaceError
from recorder.errors import RecorderError
from recorder.integrity.chain import Problem, Witnessed
from recorder.integrity.notes import Checkpoint, SignedNote
from recorder.integrity.verified import Verified
from recorder.settings import Settings
from recorder.store.long_work import connect_to
from recorder.store.read_batches import origins
from recorder.store.read_kept import lost_logs
from recorder.store.translate import translate_errors
from recorder.wiring.database import shown
from recorder.wiring.registry import read_registry

__all__ = [
    "missing_logs",
    "unreadable_archive",
]

ORIGIN = "kube-recorder/"


async def missing_logs(settings: Settings, dsn: str) -> Sequence[Verified]:
    """Return the logs that were signed with a trusted key and are gone.

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
        # Otherwise each log tells of it.
        found.append(_verified("", 0, problems))
    return found


async def _here(
    dsn: str,
) -> tuple[set[str], Sequence[tuple[int, str | None]]]:
    """Return the logs of the database, and those with rows and no own."""
    with translate_errors("look for logs that are missing"):
        connection = await connect_to(dsn)
        try:
            return set(await origins(connection)), await lost_logs(connection)
        finally:
            connection.terminate()


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
            with translate_errors("look for logs that are missing"):
                connection = await connect_to(url)
                try:
                    there |= set(await origins(connection))
                finally:
                    connection.terminate()
        except RecorderError:
            away.append(shown(url))
    return there, away


def unreadable_archive(place: str, why: RecorderError) -> Verified:
    """Return that nothing in an archive can be verified."""
    kind = "archive-away" if isinstance(why, Away) else "archive-missing"
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
