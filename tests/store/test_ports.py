"""What is read of ports that flap: the same by steps as from all claims."""

import json
import random
from collections.abc import Iterator, Sequence
from hashlib import sha256

import pytest

from recorder.answers.queries import FactQuery, Purpose
from recorder.facts.bearing import port_of
from recorder.facts.flaps import BEAT_SECONDS, CLAIMS_MAX, without_flaps
from recorder.model.fact import StoredFact
from recorder.model.observation import CloudEventPosted, Observation
from recorder.store import read_ports
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from recorder.store.stored_facts import COLUMNS, named
from tests.support.builders import at
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog

HOUR = 3_600
DAY = 24 * HOUR


def claim(seconds: float, node: str, port: str, state: str) -> Observation:
    event = {
        "specversion": "1.0",
        "id": f"{port}/{seconds}/{state}",
        "source": "ufm",
        "type": "link.state",
        "time": at(seconds).isoformat(),
        "subject": f"port/{port}",
        "data": {"state": state, "node": node},
    }
    raw = json.dumps(event).encode()
    return CloudEventPosted(
        observed_at=at(2 * DAY), event=raw, key=sha256(raw).hexdigest()
    )


def claims(chance: random.Random) -> Iterator[Observation]:
    """Yield claims of some ports, which flap now and then."""
    for node in ("n1", "n2"):
        for port in range(3):
            seconds = chance.random() * DAY / 2
            for _ in range(chance.randrange(1, 6)):
                count = chance.choice([1, 2, CLAIMS_MAX, 30, 200])
                pause = chance.choice([0.1, 1, 20, BEAT_SECONDS / 3])
                for _ in range(count):
                    state = chance.choice(["down", "up", "degraded"])
                    yield claim(seconds, node, f"{node}:{port}", state)
                    seconds += pause * chance.random()
                seconds += chance.choice([1, BEAT_SECONDS, HOUR])


def of_ports(facts: Sequence[StoredFact]) -> list[StoredFact]:
    return [one for one in facts if port_of(one.fact) is not None]


async def read(
    database: Database, purpose: Purpose, *nodes: str, **span: object
) -> Sequence[StoredFact]:
    engine = make_engine(database.dsn("reader"))
    try:
        reading = await LogReading.at_present(engine, 1)
        return await reading.facts(
            FactQuery(purpose=purpose, nodes=nodes, **span)  # type: ignore[arg-type]
        )
    finally:
        await engine.dispose()


async def test_steps_read_the_same_as_all_claims_folded(
    any_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = WrittenLog(any_database.dsn("writer"))
    await log.begin("n1", "n2")
    chance = random.Random(7)
    said = list(claims(chance))
    chance.shuffle(said)
    await log.append(*said)
    await log.end()
    spans: list[dict[str, object]] = [
        {},
        {"since": at(DAY / 4 + 77), "until": at(DAY / 2 + 7)},
    ]
    for span in spans:
        for purpose in (Purpose.ALL, Purpose.EVIDENCE):
            by_steps = await read(any_database, purpose, "n1", "n2", **span)
            with monkeypatch.context() as patched:
                patched.setattr(read_ports, "FEW", len(said))
                patched.setattr(
                    "recorder.store.read_facts.crowded", lambda _: ["n1", "n2"]
                )
                patched.setattr(
                    "recorder.store.read_facts.OF_CROWDED",
                    named(
                        f"select {COLUMNS} from recorder.fact f"
                        f" where {read_ports.OF_PORT}"
                        " and f.node_id is not null",
                        before="of as (select :nodes::text[]),",
                    ),
                )
                of_all = await read(any_database, purpose, "n1", "n2", **span)
            assert of_ports(by_steps) == of_ports(of_all)
            assert without_flaps(by_steps) == by_steps
            assert len(of_ports(by_steps)) < len(said)


async def test_an_hour_of_flaps_of_one_port_is_two_facts(
    any_database: Database,
) -> None:
    log = WrittenLog(any_database.dsn("writer"))
    await log.begin("n1", "n2")
    await log.append(
        *(
            claim(n, "n1", "n1:1", ("down", "up")[n // 3 % 2])
            for n in range(0, HOUR, 3)
        )
    )
    await log.append(claim(7, "n1", "n1:2", "down"))
    await log.end()

    found = of_ports(await read(any_database, Purpose.ALL, "n1"))
    assert [one.fact.occurred_at for one in found] == [
        at(0),
        at(HOUR - 3),
        at(7),
    ]
    assert of_ports(await read(any_database, Purpose.ALL, "n2")) == []
