"""Who may claim what, and what is promised by each response."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from starlette.routing import Router

from recorder.doctor.health.metrics import exposition
from recorder.explain.knowledge import shipped
from recorder.intake.progress import ClaimCounts, Progress
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.keeping.tokens import TokenFile
from recorder.listening import bound_socket, listening
from recorder.model.entry import Draft, Operation
from recorder.model.observation import CLOUDEVENTS
from recorder.model.reference import Resource
from recorder.model.settings import Settings
from recorder.sources.claims import CLAIMS_PATH, ClaimDoor
from recorder.sources.claims.converters import Converter
from recorder.sources.claims.door import COMMIT_SECONDS
from recorder.sources.watch.client import ClusterIdentity
from recorder.wiring.live import LiveRecording
from recorder.wiring.receiving import senders_served
from tests.audit.receiving import POLICY, Slow
from tests.claims.posting import BOUNDS, an_event, post
from tests.cluster.certificates import Authority
from tests.support.memory_log import MemoryLog


class Doorway:
    """A recorder that takes claims, on a log in memory."""

    def __init__(
        self,
        folder: Path,
        mappings: Mapping[str, Converter] | None = None,
        commit_seconds: float = COMMIT_SECONDS,
    ) -> None:
        self.tokens = TokenFile(folder / "senders")
        self.pdu = self.tokens.add("pdu", claims=("pdu/*", "machine.*"))
        self.reader = self.tokens.add("grafana")
        self.log = MemoryLog()
        self.writer = Slow(self.log)
        self.counts = ClaimCounts()
        self.door = ClaimDoor(
            self.tokens.sender,
            counts=self.counts,
            misfit=shipped().misfit,
            commit_seconds=commit_seconds,
            mappings=mappings,
        )
        self.address = ""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        bound = bound_socket("127.0.0.1:0", setting="audit_listen")
        app = Router(self.door.routes())
        async with listening(app, bound, BOUNDS) as address:
            self.address = f"http://{address}"
            yield

    @asynccontextmanager
    async def recording(self) -> AsyncIterator[None]:
        """Record while entered, as the process that holds the lease."""
        stop = asyncio.Event()
        self.writer = Slow(self.log)
        redaction = Redaction(RedactionRules(), b"0" * 32)
        recording = Recording(self.writer, redaction, policy=POLICY)
        async with asyncio.TaskGroup() as group:
            group.create_task(recording.run({CLOUDEVENTS: self.door}, stop))
            async with asyncio.timeout(20):
                while (await self.post([]))[0] == 503:  # noqa: ASYNC110 - the lease has no bell
                    await asyncio.sleep(0.001)
            yield
            self.writer.goes.set()
            stop.set()

    async def post(
        self, event: Any, *, token: str | None = None
    ) -> tuple[int, str]:
        async with aiohttp.ClientSession() as session:
            return await post(session, self.address, token or self.pdu, event)

    def claims(self) -> list[Draft]:
        return self.log.drafts(Operation.CLOUDEVENT)


@pytest.fixture
async def doorway(tmp_path: Path) -> AsyncIterator[Doorway]:
    one = Doorway(tmp_path)
    async with one.listening(), one.recording():
        yield one


async def test_an_accepted_claim_is_in_the_log(doorway: Doorway) -> None:
    said = await doorway.post(an_event(1))

    (claim,) = doorway.claims()
    assert said == (202, "")
    assert orjson.loads(claim.raw) == an_event(1)
    assert claim.source == CLOUDEVENTS
    assert claim.occurred_at == datetime(2026, 11, 26, 3, tzinfo=UTC)
    assert claim.identity is not None
    assert claim.identity.name == "node/gpu-1"
    assert Resource.parse(claim.resource or "").api_version == (
        "cloudevents.io/v1"
    )


async def test_data_that_is_not_as_its_type_says_is_named(
    doorway: Doorway,
) -> None:
    wrong = an_event(2, type="machine.test", data={"result": "fine"})

    status, says = await doorway.post([an_event(1), wrong])

    assert status == 400
    assert says == (
        'event 2, of type machine.test: "data.result" does not fit'
        ' {"enum":["passed","failed"]}\n'
    )
    assert doorway.claims() == []


async def test_data_of_a_type_that_is_not_known_may_be_anything(
    doorway: Doorway,
) -> None:
    event = an_event(1, type="machine.whatever", data=[7])

    assert await doorway.post(event) == (202, "")


async def test_without_a_time_when_it_happened_is_not_known(
    doorway: Doorway,
) -> None:
    event = an_event(1)
    del event["time"]

    await doorway.post(event)

    assert [claim.occurred_at for claim in doorway.claims()] == [None]


async def test_a_repeated_claim_is_entered_once_also_after_a_restart(
    tmp_path: Path,
) -> None:
    one = Doorway(tmp_path)
    async with one.listening():
        async with one.recording():
            first = [
                await one.post(an_event(1)),
                await one.post([an_event(1), an_event(2), an_event(2)]),
            ]
        async with one.recording():
            again = await one.post([an_event(2), an_event(1), an_event(3)])
            other = await one.post(an_event(1, source="pdu/b4"))

    statuses = [status for status, _ in (*first, again, other)]
    assert statuses == [202] * 4
    assert [orjson.loads(one.raw)["id"] for one in one.claims()] == [
        "1",
        "2",
        "3",
        "1",
    ]


async def test_what_a_token_may_not_claim_is_refused_with_its_batch(
    doorway: Doorway,
) -> None:
    source = await doorway.post(an_event(1, source="ups/1"))
    kind = await doorway.post([an_event(1), an_event(2, type="note")])

    assert (source[0], kind[0]) == (403, 403)
    assert '"machine.power" of source "ups/1"' in source[1]
    assert '"note" of source "pdu/b3"' in kind[1]
    assert not doorway.claims()


async def test_a_token_that_reads_does_not_claim(doorway: Doorway) -> None:
    reader = await doorway.post(an_event(1), token=doorway.reader)
    stranger = await doorway.post(an_event(1), token="rec_stranger")

    assert (reader[0], stranger[0]) == (401, 401)
    assert not doorway.claims()
    assert doorway.tokens.holder(doorway.pdu) is None
    assert doorway.tokens.holder(doorway.reader) is not None


async def test_a_token_that_is_revoked_claims_no_more(
    doorway: Doorway,
) -> None:
    before = await doorway.post(an_event(1))
    doorway.tokens.revoke("pdu")
    after = await doorway.post(an_event(2))

    assert (before[0], after[0]) == (202, 401)


async def test_tokens_that_cannot_be_read_refuse_nothing_for_good(
    doorway: Doorway, tmp_path: Path
) -> None:
    (tmp_path / "senders").unlink()

    status, says = await doorway.post(an_event(1))

    assert (status, says) == (503, "the tokens of senders cannot be read\n")


async def test_a_malformed_event_is_refused_with_its_member(
    doorway: Doorway,
) -> None:
    late = written(datetime.now(UTC) + timedelta(hours=1))

    status, says = await doorway.post([an_event(1), an_event(2, time=late)])

    assert (status, says) == (400, 'event 2: "time" is in the future\n')
    assert not doorway.claims()


async def test_requests_are_counted_refused_ones_by_the_reason(
    doorway: Doorway,
) -> None:
    late = written(datetime.now(UTC) + timedelta(hours=1))
    large = an_event(1, data="x" * (256 << 10))
    doorway.counts.refused.clear()

    await doorway.post(an_event(1, time=late))
    await doorway.post(large)
    await doorway.post(an_event(1, source="ups/1"))
    await doorway.post(an_event(1), token="rec_stranger")
    await doorway.post([an_event(1), an_event(2)])

    said = exposition(Progress(claims=doorway.counts)).decode()
    for reason in ("future", "large", "right", "token"):
        assert f'claims_refused_total{{reason="{reason}"}} 1.0' in said
    assert 'claims_accepted_total{converter="cloudevents"} 2.0' in said
    assert doorway.counts.last_refusal == (
        "the token is not valid, or may not claim anything"
    )
    assert len(doorway.claims()) == 2


def written(at: datetime) -> str:
    return at.isoformat()


async def test_a_standby_takes_nothing(tmp_path: Path) -> None:
    one = Doorway(tmp_path)
    async with one.listening():
        status, says = await one.post(an_event(1))

    assert status == 503
    assert "does not write the log" in says


async def test_before_the_commit_nothing_is_promised(tmp_path: Path) -> None:
    doorway = Doorway(tmp_path, commit_seconds=2)
    async with doorway.listening(), doorway.recording():
        doorway.writer.goes.clear()
        slow = await doorway.post(an_event(1))
        doorway.writer.goes.set()
        again = await doorway.post(an_event(1))

    assert (slow[0], again[0]) == (503, 202)
    assert len(doorway.claims()) == 1


async def test_secrets_do_not_enter(doorway: Doorway) -> None:
    data = {"bmc": [{"password": "hunter22"}], "tokens": ["abc", 7], "n": 1e3}
    await doorway.post(an_event(1, data=data))

    (claim,) = doorway.claims()
    said = orjson.loads(claim.raw)
    assert b"hunter22" not in claim.raw
    assert said["data"]["bmc"][0]["password"].startswith("redacted:")
    assert said["data"]["tokens"].startswith("redacted:")
    assert {**said, "data": data} == an_event(1, data=data)


async def test_a_body_has_a_size_and_no_encoding(doorway: Doorway) -> None:
    large = an_event(1, data="x" * (4 << 20))
    async with aiohttp.ClientSession() as session:
        bodies = {"Authorization": f"Bearer {doorway.pdu}"}
        packed = await session.post(
            doorway.address + CLAIMS_PATH,
            data=b"x",
            headers={**bodies, "Content-Encoding": "gzip"},
        )

    assert (await doorway.post(large))[0] == 413
    assert packed.status == 415


@pytest.mark.parametrize("door", ["ingest_token_file", "audit_token_file"])
async def test_the_door_and_the_audit_webhook_need_no_settings_of_each_other(
    tmp_path: Path, door: str
) -> None:
    authority = Authority(tmp_path / "certificates")
    server = authority.server()
    token = TokenFile(tmp_path / "senders").add("pdu", claims=("*", "*"))
    live = LiveRecording(identity=ClusterIdentity("a", "uid", "v1.36.3"))
    settings = Settings(
        audit_listen="127.0.0.1:0",
        audit_certificate=server.certificate,
        audit_key=server.key,
        **{door: tmp_path / "senders"},  # type: ignore[arg-type]
    )
    trust = ssl.create_default_context(cafile=str(authority.certificate))
    connector = aiohttp.TCPConnector(ssl=trust)
    async with (
        senders_served(settings, live) as address,
        aiohttp.ClientSession(connector=connector) as session,
    ):
        origin = address.removesuffix(CLAIMS_PATH).partition("/audit")[0]
        event, _ = await post(session, origin, token, an_event(1))
        records = await session.post(f"{origin}/audit/uid", data=b"{}")

    if door == "audit_token_file":
        assert (event, records.status) == (404, 401)
        assert live.claims is None
        return
    assert (event, records.status) == (503, 404), "nothing is recorded"
    assert live.receiver is None
    assert live.progress.claims is not None
    assert live.progress.claims.refused == {"standby": 1}
