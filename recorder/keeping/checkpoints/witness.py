"""Witnesses: others who have seen that a log only grew, and sign that.

As https://c2sp.org/tlog-witness specifies: a witness gets a checkpoint with
the proof that its tree begins with the last one that the witness has seen,
and answers with a cosignature.
"""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Self

import aiohttp

from recorder.integrity.notes import (
    COSIGNATURE,
    NoteError,
    SignedNote,
    VerifierKey,
)
from recorder.keeping.checkpoints.place import PlaceError
from recorder.model.errors import ConfigError

TIMEOUT = aiohttp.ClientTimeout(total=10)
ANSWER_MAX = 16 << 10
OK, CONFLICT = 200, 409

Prover = Callable[[int], Awaitable[Sequence[bytes]]]
"""Returns the proof that the tree begins with that of a size."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness, and the key that it signs with."""

    url: str
    key: VerifierKey

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``URL NAME+ID+KEY``.

        Raises:
            ConfigError: it has another form.
        """
        url, _, key = text.strip().partition(" ")
        try:
            found = cls(url.rstrip("/"), VerifierKey.parse(key))
        except NoteError as exc:
            msg = f'cannot use the witness "{text}": {exc}'
            raise ConfigError(msg) from exc
        is_http = url.startswith(("https://", "http://"))
        if not is_http or found.key.kind != COSIGNATURE:
            msg = (
                f'cannot use the witness "{text}": write its URL, a space and'
                " its verifier key for cosignatures"
            )
            raise ConfigError(msg)
        return found

    async def cosign(
        self, note: SignedNote, batches: int, prove: Prover
    ) -> SignedNote:
        """Return a checkpoint with the cosignature of this witness.

        Raises:
            PlaceError: the witness is away, or refuses.
        """
        try:
            async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
                # What it has seen is its to say: it does, if we are wrong.
                status, said = await self._ask(session, note, 0, [])
                if status == CONFLICT and said.strip().isdecimal():
                    seen = int(said)
                    if 0 < seen <= batches:
                        proof = await prove(seen) if seen < batches else []
                        status, said = await self._ask(
                            session, note, seen, proof
                        )
            return self._signed(note, status, said)
        except (aiohttp.ClientError, TimeoutError, UnicodeDecodeError) as exc:
            why = str(exc) or type(exc).__name__
            msg = f'the witness "{self.url}" does not answer: {why}'
            raise PlaceError(msg) from exc

    def _signed(self, note: SignedNote, status: int, said: str) -> SignedNote:
        why = f"HTTP {status}: {said[:200].strip()}"
        if status == OK:
            why = "its signature is not on it"
            try:
                signed = note.with_signatures(said)
                if signed.cosigned_at(self.key) is not None:
                    return signed
            except NoteError as exc:
                why = str(exc)
        msg = f'the witness "{self.url}" did not cosign: {why}'
        raise PlaceError(msg)

    async def _ask(
        self,
        session: aiohttp.ClientSession,
        note: SignedNote,
        seen: int,
        proof: Sequence[bytes],
    ) -> tuple[int, str]:
        lines = "".join(f"{b64encode(one).decode()}\n" for one in proof)
        body = f"old {seen}\n{lines}\n{note}"
        url = f"{self.url}/add-checkpoint"
        async with session.post(url, data=body.encode()) as answer:
            content = await answer.content.read(ANSWER_MAX)
            return answer.status, content.decode()
