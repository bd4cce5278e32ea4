"""A witness sees a log grow, proves it by its own means, and cosigns.

The witness of the tests keeps what C2SP's tlog-witness asks of one: it signs
nothing that does not begin with what it signed before.
"""

import time
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)
from hypothesis import given
from hypothesis import strategies as st

from recorder.integrity.notes import (
    COSIGNATURE,
    Checkpoint,
    SignedNote,
    VerifierKey,
)
from recorder.integrity.tree import ProofError, check_consistency
from recorder.keeping.checkpointing import MadeCheckpoint, make_checkpoint
from recorder.keeping.checkpoints.witness import Witness
from recorder.model.errors import ConfigError
from recorder.store.long_work import connect_to
from tests.support.builders import at
from tests.support.postgres import Database
from tests.tampering.story import record

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
THEIRS = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
NAME = "witness.example/w1"
WITNESS_KEY = VerifierKey(
    NAME, THEIRS.public_key().public_bytes_raw(), COSIGNATURE
)


class FakeWitness:
    """A witness, as far as the protocol goes."""

    def __init__(self) -> None:
        self.seen: Checkpoint | None = None
        self.asked = 0

    async def add_checkpoint(self, request: web.Request) -> web.Response:
        self.asked += 1
        head, _, note = (await request.text()).partition("\n\n")
        first, *proof = head.split("\n")
        old = int(first.removeprefix("old "))
        signed = SignedNote.parse(note)
        found = Checkpoint.parse(signed.text)
        log = VerifierKey(found.origin, KEY.public_key().public_bytes_raw())
        assert signed.is_signed_by(log)
        known = 0 if self.seen is None else self.seen.batches
        if old != known:
            return web.Response(status=409, text=f"{known}\n")
        try:
            self._check(found, [b64decode(one) for one in proof])
        except ProofError as exc:
            return web.Response(status=422, text=str(exc))
        self.seen = found
        stamp = int(time.time())
        text = f"cosignature/v1\ntime {stamp}\n{signed.text}"
        raw = WITNESS_KEY.id + stamp.to_bytes(8) + THEIRS.sign(text.encode())
        return web.Response(text=f"\u2014 {NAME} {b64encode(raw).decode()}\n")

    def _check(self, found: Checkpoint, proof: list[bytes]) -> None:
        seen = self.seen
        if seen is None:
            return
        if seen.batches == found.batches:
            if seen.root != found.root:
                msg = "another tree of that size was signed"
                raise ProofError(msg)
            return
        root = check_consistency(seen.batches, seen.root, found.batches, proof)
        if root != found.root:
            msg = "the proof leads elsewhere"
            raise ProofError(msg)


@asynccontextmanager
async def served(witness: FakeWitness) -> AsyncIterator[Witness]:
    app = web.Application()
    app.router.add_post("/add-checkpoint", witness.add_checkpoint)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    (address, port) = runner.addresses[0][:2]
    try:
        yield Witness(f"http://{address}:{port}", WITNESS_KEY)
    finally:
        await runner.cleanup()


async def made(database: Database, witness: Witness) -> MadeCheckpoint:
    connection = await connect_to(database.dsn("writer"))
    try:
        found = await make_checkpoint(
            connection, 1, KEY, [], at(0), witnesses=[witness]
        )
    finally:
        await connection.close()
    assert found is not None
    return found


async def test_a_witness_cosigns_a_log_that_grows(database: Database) -> None:
    fake = FakeWitness()
    async with served(fake) as witness:
        for _ in range(3):
            await record(database.dsn("writer"))
            found = await made(database, witness)
            assert found.troubles == []
            assert found.note.cosigned_at(WITNESS_KEY) is not None
            assert fake.seen == found.checkpoint
            await made(database, witness)  # of the same, once more
    assert fake.asked > 3


async def test_a_witness_that_saw_another_history_does_not_cosign(
    database: Database,
) -> None:
    fake = FakeWitness()
    async with served(fake) as witness:
        await record(database.dsn("writer"))
        found = await made(database, witness)
        other = Checkpoint(found.checkpoint.origin, 3, bytes(32))
        fake.seen = other
        found = await made(database, witness)
    assert "did not cosign" in str(found.troubles[0])
    assert found.note.cosigned_at(WITNESS_KEY) is None


async def test_a_witness_that_is_away_costs_no_checkpoint(
    database: Database,
) -> None:
    await record(database.dsn("writer"))
    found = await made(database, Witness("http://127.0.0.1:9", WITNESS_KEY))
    assert "does not answer" in str(found.troubles[0])
    assert found.note.signatures


def test_a_witness_is_written_as_an_address_and_a_key() -> None:
    written = f"https://w.example/log {WITNESS_KEY}"
    assert Witness.parse(written).key == WITNESS_KEY


@given(st.text())
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="cannot use the witness"):
        Witness.parse(text)
