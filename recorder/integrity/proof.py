"""The proof of one entry: a file that can be checked without the log.

From the entry to its batch, from the batch to the tree of the log, and from
there to a signed checkpoint. Its format is specified in ``docs/integrity.md``.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec

from recorder.integrity.leaves import (
    VERSION,
    BatchHeader,
    entry_leaf,
    from_micros,
    micros,
)
from recorder.integrity.notes import (
    Checkpoint,
    NoteError,
    SignedNote,
    signed_by_any,
)
from recorder.integrity.tree import ProofError, check_inclusion, leaf_hash
from recorder.model.entry import Draft

FORMAT = "kube-recorder/proof/1"

Value = int | str | None

FIELDS = (
    "version",
    "position",
    "epoch",
    "recorded_at",
    "observed_at",
    "occurred_at",
    "operation",
    "source",
    "resource",
    "api_group",
    "kind",
    "namespace",
    "name",
    "uid",
    "resource_version",
    "node",
    "reason",
    "actor",
)
"""Of a leaf, in its order; the digest of the document comes last."""


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a batch; times in microseconds since 1970."""

    origin: str
    cluster_uid: str
    batch: int
    first_position: int
    entries: int
    term: int
    recorded_at: int
    observed_min: int
    observed_max: int
    sealed_at: int | None
    root: str
    """In hexadecimal digits, as all hashes."""

    @classmethod
    def of(cls, header: BatchHeader) -> "Batch":
        """Return the written form of a header."""
        sealed = header.sealed_at
        return cls(
            origin=header.origin,
            cluster_uid=header.cluster_uid,
            batch=header.batch,
            first_position=header.first_position,
            entries=header.entries,
            term=header.term,
            recorded_at=micros(header.recorded_at),
            observed_min=micros(header.observed_min),
            observed_max=micros(header.observed_max),
            sealed_at=None if sealed is None else micros(sealed),
            root=header.root.hex(),
        )

    def header(self) -> BatchHeader:
        """Return the header."""
        sealed = self.sealed_at
        return BatchHeader(
            origin=self.origin,
            cluster_uid=self.cluster_uid,
            batch=self.batch,
            first_position=self.first_position,
            entries=self.entries,
            term=self.term,
            recorded_at=from_micros(self.recorded_at),
            observed_min=from_micros(self.observed_min),
            observed_max=from_micros(self.observed_max),
            root=bytes.fromhex(self.root),
            sealed_at=None if sealed is None else from_micros(sealed),
        )


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """An entry, and its path to a checkpoint."""

    format: str
    entry: str
    """Its name in the database that it was proven from."""

    leaf: dict[str, Value]
    document: str | None
    """As text, or in base64 if it is not UTF-8."""

    document_base64: str | None = None
    entry_path: Sequence[str]
    batch: Batch
    batch_path: Sequence[str]
    checkpoint: str
    """The signed note."""

    def raw(self) -> bytes:
        """Return the document."""
        if self.document is not None:
            return self.document.encode()
        return b64decode(self.document_base64 or "", validate=True)


def leaf_of(
    draft: Draft, *, position: int, epoch: int, recorded: int
) -> dict[str, Value]:
    """Return the leaf of an entry by the names of its fields."""
    leaf = entry_leaf(draft, position=position, epoch=epoch, recorded=recorded)
    values = msgspec.msgpack.decode(leaf)[:-1]
    return dict(zip(FIELDS, values, strict=True))


def make_proof(
    entry: tuple[str, dict[str, Value], bytes],
    entry_path: Sequence[bytes],
    header: BatchHeader,
    batch_path: Sequence[bytes],
    note: SignedNote,
) -> Proof:
    """Return the proof of an entry: its name, its leaf and its document."""
    name, leaf, raw = entry
    try:
        document, encoded = raw.decode(), None
    except UnicodeDecodeError:
        document, encoded = None, b64encode(raw).decode()
    return Proof(
        format=FORMAT,
        entry=name,
        leaf=leaf,
        document=document,
        document_base64=encoded,
        entry_path=[one.hex() for one in entry_path],
        batch=Batch.of(header),
        batch_path=[one.hex() for one in batch_path],
        checkpoint=str(note),
    )


def check_proof(content: bytes, keys: Sequence[bytes] | None) -> Proof:
    """Return the proof in a file, if it proves its entry.

    Args:
        content: of the file.
        keys: the trusted public keys; None if there are none, and the
            signature is left to the auditor.

    Raises:
        ProofError: it does not; the message states where it fails.
    """
    try:
        proof = msgspec.json.decode(content, type=Proof)
        return _checked(proof, keys)
    except ProofError:
        raise
    except (msgspec.MsgspecError, NoteError, ValueError, OverflowError) as exc:
        msg = f"the file is no proof of this format: {exc}"
        raise ProofError(msg) from exc


def _checked(proof: Proof, keys: Sequence[bytes] | None) -> Proof:
    if proof.format != FORMAT or tuple(proof.leaf) != FIELDS:
        msg = f'the proof is not in the format "{FORMAT}"'
        raise ProofError(msg)
    if proof.leaf["version"] != VERSION:
        msg = f"the leaf is of version {proof.leaf['version']}, not {VERSION}"
        raise ProofError(msg)
    header = proof.batch.header()
    values: list[Any] = [*proof.leaf.values(), sha256(proof.raw()).digest()]
    found = check_inclusion(
        leaf_hash(msgspec.msgpack.encode(values)),
        _number(proof.leaf["position"]) - header.first_position,
        header.entries,
        [bytes.fromhex(one) for one in proof.entry_path],
    )
    if found != header.root:
        msg = "the entry does not lead to the root of its batch"
        raise ProofError(msg)
    note = SignedNote.parse(proof.checkpoint)
    checkpoint = Checkpoint.parse(note.text)
    if checkpoint.origin != header.origin:
        msg = "the checkpoint is of another log than the batch"
        raise ProofError(msg)
    if (
        keys is not None
        and signed_by_any(note, keys, checkpoint.origin) is None
    ):
        msg = "the checkpoint is not signed by a trusted key"
        raise ProofError(msg)
    root = check_inclusion(
        header.hash(),
        header.batch - 1,
        checkpoint.batches,
        [bytes.fromhex(one) for one in proof.batch_path],
    )
    if root != checkpoint.root:
        msg = "the batch does not lead to the root that the checkpoint signs"
        raise ProofError(msg)
    return proof


def _number(value: Value) -> int:
    if not isinstance(value, int):
        msg = "the position of the leaf is no number"
        raise ProofError(msg)
    return value
