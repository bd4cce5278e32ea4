"""What slurmctld pushes: finished runs, without their scripts."""

import asyncio
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import msgspec
import pytest

from recorder.explain.knowledge import shipped
from recorder.sources.claims import CLAIMS_PATH
from recorder.sources.claims.converters import (
    CONVERTERS,
    slurm_converter,
    zone_of,
)
from recorder.sources.claims.envelope import EnvelopeError, claims_of
from recorder.sources.slurm.log_lines import LogFollower, preemptors
from tests.claims.test_door import Doorway
from tests.slurm.laboratory import CLUSTER, Laboratory
from tests.slurm.polls import pushed
from tests.support.sampling import sampled

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def test_each_document_is_a_run_and_no_script_is_kept() -> None:
    found = []
    for body in pushed():
        events, _ = CONVERTERS["slurm"](body, zone_of("UTC"))
        (claim,) = claims_of(events, now=NOW)
        assert shipped().misfit(claim.type, claim.document) is None
        assert b"#!/bin/sh" not in claim.document
        assert b"wrap" not in claim.document
        data = events[0]["data"]
        found.append((data["job"], data["state"], data.get("failed_node", "")))
    assert (20022, "NODE_FAIL", "gpu-003") in found
    assert any(state == "PREEMPTED" for _, state, _ in found)
    assert any(state == "COMPLETED" for _, state, _ in found)


def test_times_need_a_zone() -> None:
    with pytest.raises(EnvelopeError, match="zone=Europe/Berlin"):
        CONVERTERS["slurm"](pushed()[0], None)
    with pytest.raises(EnvelopeError, match="jobid"):
        CONVERTERS["slurm"](b"{}", zone_of("UTC"))
    nameless = pushed()[0].replace(b'"cluster"', b'"-"')
    with pytest.raises(EnvelopeError, match="set slurm_cluster"):
        CONVERTERS["slurm"](nameless, zone_of("UTC"))


async def test_slurm_presents_its_token_as_a_password(tmp_path: Path) -> None:
    door = Doorway(tmp_path)
    token = door.tokens.add("slurm", claims=("slurm/*", "slurm.run"))
    password = b64encode(f"slurm:{token}".encode()).decode()
    async with (
        door.listening(),
        door.recording(),
        aiohttp.ClientSession() as session,
        session.post(
            f"{door.address}{CLAIMS_PATH}/slurm?zone=UTC",
            data=pushed()[0],
            headers={"Authorization": f"Basic {password}"},
        ) as answer,
    ):
        # Slurm repeats for ever what is answered otherwise.
        assert answer.status == 201


def test_the_log_names_preemptors_through_its_rotation(tmp_path: Path) -> None:
    path = tmp_path / "slurmctld.log"
    line = (
        "[2026-11-25T18:00:00] preempted JobId={} has been requeued to"
        " reclaim resources for JobId=9\n"
    )
    path.write_text(line.format(1))
    log = LogFollower(path)
    with path.open("a") as more:
        more.write("backfill\n" + line.format(8) + "torn")
    assert dict(preemptors(log.read())) == {8: "9"}
    with path.open("a") as more:
        more.write(" line\n" + line.format("7_2"))
    assert dict(preemptors(log.read())) == {7: "9"}
    path.rename(tmp_path / "old")
    path.write_text(line.format(5))
    assert dict(preemptors(log.read())) == {5: "9"}
    path.unlink()
    assert log.read() == b""


async def slurm_pushes(tmp_path: Path) -> None:
    """The plugin of a real slurmctld presents its token, and posts a run.

    Without accounting a document names no cluster: that of the settings is
    meant.
    """
    door = Doorway(tmp_path, {"slurm": slurm_converter(str, CLUSTER)})
    token = door.tokens.add("slurm", claims=("slurm/lab", "slurm.run"))
    async with door.listening(), door.recording():
        place = door.address.removeprefix("http://")
        url = f"http://slurm:{token}@{place}{CLAIMS_PATH}/slurm?zone=UTC"
        lab = Laboratory(1, pushed_to=url)
        await asyncio.to_thread(lab.__enter__)
        try:
            job = lab.submit("-N1", "-n1", script="exit 3")
            await asyncio.to_thread(lab.wait_for, job, "FAILED")
            # The plugin posts every half minute.
            await asyncio.to_thread(
                lab.wait, lambda: bool(door.claims()), "the push", 90
            )
        finally:
            await asyncio.to_thread(lab.__exit__, None, None, None)
    (claim,) = door.claims()
    for dropped in (b"exit 3", b"#!/bin/sh", b"/dev/null", b"/tmp"):
        assert dropped not in claim.raw
    data = msgspec.json.decode(claim.raw)["data"]
    assert (data["cluster"], data["job"], data["state"]) == (
        *(CLUSTER, job, "FAILED"),
    )
    assert (data["exit_code"], data["began"]) == (3, [["gpu-001", "gpu-001"]])


if sampled("slurm pushes", [True], 0):

    @pytest.mark.timeout(180)
    async def test_a_real_slurm_pushes_its_runs(tmp_path: Path) -> None:
        await slurm_pushes(tmp_path)
