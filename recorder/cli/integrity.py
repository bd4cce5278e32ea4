"""`recorder checkpoint` and `recorder prove`."""

from pathlib import Path

import click

from recorder.cli.asking import opened_logs, wait_for
from recorder.cli.given import given_log
from recorder.cli.options import output_option, reading_options
from recorder.cli.output import note, print_document, write


@click.command()
@output_option("note", "json", "yaml")
@reading_options
@click.pass_context
def checkpoint(ctx: click.Context, output: str) -> int:
    r"""Sign what a log holds now, and print the signed note.

    A checkpoint commits to every entry before it. `recorder up` makes one
    every minute and when it stops. Keep copies where users who can edit the
    database cannot edit them: see checkpoint_places.

    \b
    Example:
      recorder checkpoint
      recorder checkpoint --log 2 >> checkpoints.txt
    """
    return wait_for(_checkpoint(ctx, output))


async def _checkpoint(ctx: click.Context, output: str) -> int:
    from recorder.keeping.integrity import checkpoint_of
    from recorder.model.errors import NotFoundError

    async with opened_logs(ctx) as logs:
        log = (await logs.read(given_log(ctx))).log
        made = await checkpoint_of(ctx.obj, logs.writer_dsn, log.id)
    if made is None:
        msg = f"log {log.id} holds nothing to commit to"
        raise NotFoundError(msg)
    for trouble in made.troubles:
        note(str(trouble), colour="red")
    if output == "note":
        write(str(made.note).encode())
    else:
        document = {
            "log": log.id,
            "origin": made.checkpoint.origin,
            "batches": made.checkpoint.batches,
            "root": made.checkpoint.root.hex(),
            "key": str(made.key),
            "note": str(made.note),
            "written": list(made.written),
        }
        print_document(document, output)
    return 1 if made.troubles else 0


@click.command()
@click.argument("entry", metavar="LOG/POSITION")
@click.option(
    "-f",
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the proof to this file instead of standard output.",
)
@reading_options
@click.pass_context
def prove(ctx: click.Context, entry: str, file: Path | None) -> None:
    r"""Write a proof of one entry that is checked without the log.

    The proof holds the entry with its document, and the hashes that lead
    from it to a signed checkpoint. It is checked before it is written, with
    the keys that are trusted here. Check it with `recorder verify --proof`,
    or with verify_proof.py, a program of one file that needs nothing else.

    \b
    Example:
      recorder prove 1/48213 -f entry.proof.json
    """
    from recorder.model.errors import ConfigError

    content = wait_for(_prove(ctx, entry))
    if file is None:
        write(content)
        return
    try:
        file.write_bytes(content)
    except OSError as exc:
        msg = f'cannot write the proof to "{file}": {exc.strerror}'
        raise ConfigError(msg) from exc
    note(f"the proof of entry {entry} is in {file}")


async def _prove(ctx: click.Context, entry: str) -> bytes:
    import msgspec

    from recorder.keeping.integrity import proof_of
    from recorder.model.errors import ConfigError
    from recorder.model.reference import EntryName

    try:
        name = EntryName.parse(entry)
    except ValueError as exc:
        raise ConfigError(str(exc)) from exc
    async with opened_logs(ctx, name.log) as logs:
        await logs.read(name.log)
        proof = await proof_of(ctx.obj, logs.dsn("reader"), name)
    return msgspec.json.format(msgspec.json.encode(proof), indent=1) + b"\n"
