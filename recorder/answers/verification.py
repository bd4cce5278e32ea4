"""Results of verifying logs, as lines for people."""

from collections.abc import Iterator

from recorder.answers.text.lines import plain
from recorder.integrity.verified import (
    Derived,
    Verification,
    Verified,
    VerifiedDatabase,
)
from recorder.model.moment import written

DATABASE = "the database"


def lines_of(
    found: Verification,
) -> Iterator[tuple[Iterator[str], bool]]:
    """Yield the lines of each log and of the database; true if unaltered."""
    for one in found.logs:
        yield verification_lines(one), one.ok
    if (around := found.database) is not None:
        yield _of_database(around), not around.problems


def _of_database(found: VerifiedDatabase) -> Iterator[str]:
    """Yield the lines about the schema of the database."""
    if found.problems:
        count = len(found.problems)
        noun = "problem" if count == 1 else "problems"
        yield f"the database: ALTERED, {count} {noun}"
        yield from (
            plain(f"  {problem.kind}: {problem.says}")
            for problem in found.problems
        )
    elif not found.compared:
        yield (
            f'the database: its catalog was not compared: schema "'
            f'{found.revision}" is of a newer release; verify with that one'
        )
    else:
        yield (
            "the database: tables, views, functions, triggers, policies and"
            " grants are those of the migrations"
        )


def verification_lines(found: Verified) -> Iterator[str]:
    """Yield the lines about a log."""
    name = _name(found)
    if found.problems:
        count = len(found.problems) + found.left_out
        noun = "problem" if count == 1 else "problems"
        yield f"{name}: ALTERED, {count} {noun}"
        yield from (
            f"  {problem.kind}: {problem.says}" for problem in found.problems
        )
        if found.left_out:
            yield f"  and {found.left_out} more"
        return
    batches = "1 batch" if found.batches == 1 else f"{found.batches:,} batches"
    yield (
        f"{name}: nothing was altered in {found.checked_entries:,} of"
        f" {found.size:,} entries, {batches}"
    )
    yield from _resumed(found)
    if found.root is not None:
        yield f"  root         {found.root}"
    if found.dropped:
        yield (
            f"  dropped      entries up to {found.log}/{found.dropped},"
            " whose hashes are part of the root: `recorder verify"
            " --archive PLACE` checks their archive"
        )
    if found.unrecorded:
        yield (
            f"  pending      {found.unrecorded} removals by retention have no"
            " entry in the log yet: it is written within a minute of"
            " recording"
        )
    if found.sealed:
        yield (
            f"  sealed       {found.sealed:,} batches that an older release"
            " wrote without hashes: they are proven from now on"
        )
    yield from _facts(found.derived)
    yield f"  checkpoints  {_checkpoints(found)}"
    yield from _missing(found)


def _resumed(found: Verified) -> Iterator[str]:
    """Yield what an earlier run read, and why it was not resumed."""
    if found.resumed_from is not None:
        yield (
            f"  earlier      {found.resumed_entries:,} of these entries were"
            f" read by a run that began at {written(found.resumed_from)} and"
            " was interrupted; their rows were not written again since."
            " `--again` reads everything"
        )
    if found.resume_refused is not None:
        yield (f"  not resumed  {found.resume_refused}: everything was read")


def _facts(derived: Derived) -> Iterator[str]:
    """Yield how many facts were derived again, and which could not be."""
    if derived.entries:
        sample = (
            "" if derived.seed is None else f", chosen by seed {derived.seed}"
        )
        yield (
            f"  facts        {derived.facts:,} match the"
            f" {derived.entries:,} of {derived.entries_of:,} entries that they"
            f" follow from{sample}"
        )
    for why in derived.not_compared:
        yield f"  not compared {why}"


def _name(found: Verified) -> str:
    if not found.cluster:
        return found.origin or "logs that were signed"
    if not found.log:
        return f'the archive of "{found.cluster}" ({found.origin})'
    return f'log {found.log} of "{found.cluster}"'


def _missing(found: Verified) -> Iterator[str]:
    """Yield what an archive lacks: removed, or not archived yet."""
    if found.read_days is not None:
        days = found.read_days
        yield (
            f"  sample       {days.read} of {days.of} days were read, the"
            f" newest and others chosen by seed {days.seed}; the files of the"
            " rest are there"
        )
    if found.beyond:
        yield (
            f"  not here     the newest {found.beyond:,} batches that"
            " checkpoints commit to: their days are not archived yet, or were"
            " removed; `recorder status` of the database says which it"
            " archived"
        )
    for folder in found.unfinished:
        yield (
            f"  unfinished   {folder} has no manifest: the next `recorder"
            " archive` writes it again, unless it was archived before; then"
            " restore it"
        )


def _checkpoints(found: Verified) -> str:
    outside = {one.place for one in found.checkpoints} - {DATABASE}
    if not outside:
        return (
            "none outside the database: a change that also rewrote the hashes"
            " would not be found"
        )
    places = ", ".join(sorted(outside))
    text = (
        f"agree up to batch {found.agreed:,} of {found.batches:,}, in {places}"
    )
    if not found.signed:
        text += "; signatures not checked: no key is trusted"
    return text
