#!/usr/bin/env python3
"""Check the proof of an entry of a Recorder log, with nothing of Recorder.

    verify_proof.py PROOF.json KEY...

A KEY is a public key in base64, as `recorder keys show` prints it; get it by
a way that does not pass through the sender of the proof. Needs Python 3.9
and the package cryptography. The format is specified in docs/integrity.md of
Recorder; this program was written from that page.

Exit status: 0 proven, 1 not proven, 2 usage error.
"""

import json
import struct
import sys
from base64 import b64decode
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FORMAT = "kube-recorder/proof/1"
LEAF = [
    "version", "position", "epoch", "recorded_at", "observed_at",
    "occurred_at", "operation", "source", "resource", "api_group", "kind",
    "namespace", "name", "uid", "resource_version", "node", "reason", "actor",
]  # fmt: skip
HEADER = [
    "origin", "cluster_uid", "batch", "first_position", "entries", "term",
    "recorded_at", "observed_min", "observed_max", "sealed_at",
]  # fmt: skip


class NotProvenError(Exception):
    """The proof does not prove what it says."""


def need(condition, why):
    """Raise why, unless the condition holds."""
    if not condition:
        raise NotProvenError(why)


def packed(value):
    """Return a value as MessagePack, in its shortest form."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bytes):
        need(len(value) < 256, "a hash is too long")
        return b"\xc4" + bytes([len(value)]) + value
    if isinstance(value, str):
        text = value.encode()
        for limit, head in ((32, None), (1 << 8, b"\xd9"), (1 << 16, b"\xda"),
                            (1 << 32, b"\xdb")):  # fmt: skip
            if len(text) < limit:
                break
        if head is None:
            return bytes([0xA0 | len(text)]) + text
        size = {b"\xd9": ">B", b"\xda": ">H", b"\xdb": ">I"}[head]
        return head + struct.pack(size, len(text)) + text
    need(type(value) is int, "a value is neither a number nor a text")
    if 0 <= value < 128:
        return bytes([value])
    if -32 <= value < 0:
        return struct.pack(">b", value)
    forms = (
        [(0xCC, ">B"), (0xCD, ">H"), (0xCE, ">I"), (0xCF, ">Q")]
        if value > 0
        else [(0xD0, ">b"), (0xD1, ">h"), (0xD2, ">i"), (0xD3, ">q")]
    )
    for head, form in forms:
        try:
            return bytes([head]) + struct.pack(form, value)
        except struct.error:
            continue
    raise NotProvenError("a number is too large")


def array(values):
    """Return an array as MessagePack."""
    count = len(values)
    head = (
        bytes([0x90 | count])
        if count < 16
        else b"\xdc" + struct.pack(">H", count)
    )
    return head + b"".join(packed(value) for value in values)


def leaf_hash(leaf):
    return sha256(b"\0" + leaf).digest()


def included(found, index, size, path):
    """Return the root that a path leads to (RFC 9162, section 2.1.3.2)."""
    need(type(index) is int and 0 <= index < size, "it is outside of its tree")
    last = size - 1
    for sibling in path:
        need(last > 0, "a path is too long")
        if index & 1 or index == last:
            found = sha256(b"\1" + sibling + found).digest()
            while not index & 1 and index:
                index >>= 1
                last >>= 1
        else:
            found = sha256(b"\1" + found + sibling).digest()
        index >>= 1
        last >>= 1
    need(last == 0, "a path is too short")
    return found


def signed(note, keys):
    """Return the lines of a checkpoint that one of the keys signed."""
    text, divided, signatures = note.partition("\n\n")
    need(divided, "the checkpoint is not signed")
    text += "\n"
    origin = text.split("\n")[0]
    for line in signatures.splitlines():
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.rpartition(" ")
        if dash != "\u2014" or name != origin:
            continue
        raw = b64decode(encoded, validate=True)
        for key in keys:
            key_id = sha256(origin.encode() + b"\n\x01" + key).digest()[:4]
            if raw[:4] != key_id:
                continue
            try:
                public = Ed25519PublicKey.from_public_bytes(key)
                public.verify(raw[4:], text.encode())
            except InvalidSignature:
                raise NotProvenError("a signature is not right") from None
            return text.split("\n")
    raise NotProvenError("no given key signed the checkpoint")


def check(proof, keys):
    """Return what is proven, in words; or raise NotProvenError."""
    need(proof["format"] == FORMAT, "it is in another format")
    leaf, batch = proof["leaf"], proof["batch"]
    need(list(leaf) == LEAF, "its leaf has other fields")
    need(leaf["version"] == 1, "its leaf is of another version")
    document = proof["document"]
    raw = (
        b64decode(proof["document_base64"], validate=True)
        if document is None
        else document.encode()
    )
    values = [leaf[name] for name in LEAF]
    root = included(
        leaf_hash(array([*values, sha256(raw).digest()])),
        leaf["position"] - batch["first_position"],
        batch["entries"],
        [bytes.fromhex(one) for one in proof["entry_path"]],
    )
    need(root == bytes.fromhex(batch["root"]), "it is not in its batch")
    origin, batches, signed_root, *_ = signed(proof["checkpoint"], keys)
    need(origin == batch["origin"], "the checkpoint is of another log")
    header = array([1, *(batch[name] for name in HEADER), root])
    found = included(
        leaf_hash(header),
        batch["batch"] - 1,
        int(batches),
        [bytes.fromhex(one) for one in proof["batch_path"]],
    )
    need(
        found == b64decode(signed_root, validate=True),
        "its batch is not in the log that was signed",
    )
    return (
        f"entry {leaf['position']} of {origin} is proven by the checkpoint"
        f" of {batches} batches"
    )


def main(arguments):
    """Check one file; return the exit status."""
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        keys = [b64decode(key, validate=True) for key in arguments[1:]]
        need(all(len(key) == 32 for key in keys), "a key has not 32 bytes")
        with open(arguments[0], encoding="utf-8") as file:
            print(check(json.load(file), keys))
    except NotProvenError as exc:
        print(f"NOT proven: {exc}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        print(f"NOT proven: this is no proof: {exc!r}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
