"""A proof proves one entry, and nothing that it was changed into.

Every question is asked of two programs: ours, and the one of a single file
that was written from the specification alone.
"""

import copy
import importlib.util
import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import asyncpg
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recorder.integrity.leaves import micros
from recorder.integrity.proof import check_proof, leaf_of
from recorder.integrity.tree import ProofError
from recorder.keeping.checkpointing import make_checkpoint
from recorder.keeping.proving import UnprovenError, prove
from recorder.model.entry import Draft, Operation
from recorder.model.errors import NotFoundError
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.store.long_work import connect_to
from tests.support.builders import at
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.tampering.story import record

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()
EARLIER = Path(__file__).parent / "proof.json"
"""Kept as it was once made; it is never rebuilt."""

PROGRAM = Path(__file__).parents[2] / "deploy/verify_proof.py"

Proof = dict[str, Any]


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def written(dsn: str) -> None:
        await record(dsn)
        connection = await connect_to(dsn)
        await make_checkpoint(connection, 1, KEY, [], at(0))
        await connection.close()

    with filled_database(embedded_server, written) as database:
        yield database


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verify_proof", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def proof_of(log: Database, position: int, number: int = 1) -> Proof:
    connection = await connect_to(log.dsn("writer"))
    try:
        made = await prove(connection, EntryName(number, position))
    finally:
        await connection.close()
    proof: Proof = json.loads(msgspec.json.encode(made))
    return proof


def judged(proof: Proof, program: ModuleType) -> bool:
    """Whether a proof is one, as both programs say."""
    try:
        check_proof(json.dumps(proof).encode(), [PUBLIC])
        ours = True
    except ProofError:
        ours = False
    try:
        program.check(proof, [PUBLIC])
        theirs = True
    except (program.NotProvenError, *NO_PROOF):
        theirs = False
    assert ours == theirs
    return ours


async def test_every_entry_is_proven(
    log: Database, program: ModuleType
) -> None:
    connection = await asyncpg.connect(log.dsn("reader"))
    size = await connection.fetchval(
        "select size from recorder.log_head where log_id = 1"
    )
    await connection.close()
    for position in range(1, size + 1):
        assert judged(await proof_of(log, position), program)


def leaves_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves_of(one, (*path, key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from leaves_of(one, (*path, index))
    else:
        yield path


def changed(value: Any) -> Any:
    match value:
        case int():
            return value + 1
        case str():
            return value[:-1] + ("0" if value[-1:] != "0" else "1")
        case _:
            return "x"


NO_PROOF = (ValueError, KeyError, TypeError, AttributeError)
NAME = ("entry",)
"""What the entry is called in a database is not part of the log."""

UNUSED = ("document_base64",)


async def test_no_field_can_be_changed(
    log: Database, program: ModuleType
) -> None:
    proof = await proof_of(log, 30)
    for path in leaves_of(proof):
        if path in {NAME, UNUSED}:
            continue
        forged = copy.deepcopy(proof)
        place = forged
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = changed(place[path[-1]])
        assert not judged(forged, program), path


@settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(data=st.data())
async def test_a_file_of_anything_is_refused(
    data: st.DataObject, log: Database, program: ModuleType
) -> None:
    proof = await proof_of(log, 30)
    paths = set(leaves_of(proof)) - {NAME, UNUSED}
    path = data.draw(st.sampled_from(sorted(paths, key=str)))
    junk: st.SearchStrategy[Any] = (
        st.none() | st.booleans() | st.integers() | st.text() | st.just([])
    )
    place = proof
    for step in path[:-1]:
        place = place[step]
    before = place[path[-1]]
    place[path[-1]] = data.draw(junk)
    same = place[path[-1]] == before and type(before) is type(place[path[-1]])
    assert judged(proof, program) == same


async def test_what_no_checkpoint_commits_to_is_not_proven(
    log: Database,
) -> None:
    with pytest.raises(UnprovenError, match="recorder checkpoint"):
        await proof_of(log, 3, number=2)
    with pytest.raises(NotFoundError, match="there is no entry 1/99999"):
        await proof_of(log, 99_999)


async def test_the_single_file_runs_alone(
    log: Database, tmp_path: Path
) -> None:
    proof = await proof_of(log, 12)
    file = tmp_path / "entry.proof.json"
    file.write_text(json.dumps(proof))
    key = b64encode(PUBLIC).decode()
    command = [sys.executable, "-I", str(PROGRAM), str(file), key]
    done = run(command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("entry 12 of kube-recorder/")
    file.write_text(json.dumps(proof | {"document": "{}"}))
    done = run(command)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "NOT proven: it is not in its batch\n"
    assert run(command[:-1]).returncode == 2


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_proof_that_was_kept_proves_the_same_entry() -> None:
    """Neither the leaf of an entry nor the order of its values may change."""
    content = EARLIER.read_bytes()
    proof = check_proof(content, [PUBLIC])
    draft = Draft(
        source="watch",
        operation=Operation.ADDED,
        observed_at=at(1),
        occurred_at=at(0),
        raw=proof.raw(),
        resource="v1/events",
        identity=ObjectIdentity("", "Node", "", "gpu-001", "uid-1"),
        resource_version="41",
        node="gpu-001",
        reason="Rebooted",
        actor="kubelet",
    )

    leaf = leaf_of(draft, position=1, epoch=1, recorded=micros(at(0)))
    assert leaf == proof.leaf
