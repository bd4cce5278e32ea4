"""How much claims slow down questions.

Four logs of one database have the same incidents. In the second, a port has
flapped at 10/s for an hour before, by a moved clock. In the third, a fabric
restarts: each of 40,000 ports goes down, in a minute, which degrades their
nodes, and adds an incident of each. In the fourth, 100 series of metrics were
kept of each node of an incident. All are asked in turn.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from hashlib import sha256
from itertools import islice
from statistics import median

from bench.measuring import Number, say, server_folder
from recorder.answers.incidents import Incidents, ask_incidents
from recorder.answers.node_questions import IncidentsQuestion, WhyQuestion
from recorder.answers.why import Why, ask_why
from recorder.explain.knowledge import load
from recorder.facts.metrics import Kept
from recorder.keeping.collector import prompt_collector
from recorder.measuring.asking import Asked, event_of
from recorder.model.observation import CloudEventPosted, Observation
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from recorder.store.writer import LogSpec
from recorder.wiring.database import open_database
from tests.measuring.test_asking import of_a_node
from tests.support.builders import NODES, a_frame, a_list, a_node, at
from tests.support.written_log import WrittenLog

__all__ = ["bench"]

FLAPS = 36_000
FLAPS_PER_SECOND = 10
PORTS = 40_000
RESTART_SECONDS = 60
FLEET = 2_500
STRUCK = 20
ASKED = 10
BATCH = 500
END = 8_000.0


def bench(runs: int) -> list[Number]:
    del runs  # each question is asked several times
    return asyncio.run(_measured())


async def _measured() -> list[Number]:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(server_folder())
        database = await stack.enter_async_context(
            open_database(Settings(data_dir=folder))
        )
        for name, claims in LOGS.items():
            began = time.monotonic()
            await _fill(database.dsn("writer"), name, claims())
            say(f"flaps: log {name} in {time.monotonic() - began:.0f} s")
        engine = make_engine(database.dsn("reader"))
        try:
            return await _asked(lambda log: LogReading.at_present(engine, log))
        finally:
            await engine.dispose()


async def _fill(dsn: str, name: str, claims: Iterator[Observation]) -> None:
    spec = LogSpec(
        cluster_name=name,
        cluster_uid=name,
        kubernetes="v1.36.3",
        redaction_key_id=None,
    )
    log = WrittenLog(dsn, spec, holder="bench")
    await log.lease()
    nodes = [_node(number, 2) for number in range(FLEET)]
    await log.append(a_list(NODES, 9, *nodes))
    while batch := list(islice(claims, BATCH)):
        await log.append(*batch)
    for number in range(STRUCK):
        when = 3_640.0 + number * 100
        for step, (seconds, ready, boot) in enumerate(
            ((0, "Unknown", 1), (60, "Unknown", 2), (70, "True", 2))
        ):
            seen = _node(number, 100 + number * 3 + step, ready, boot)
            await log.append(
                a_frame(NODES, "MODIFIED", seen, when=when + seconds)
            )
    await log.end()


def _node(
    number: int, version: int, ready: str = "True", boot: int = 1
) -> dict[str, object]:
    name = f"n{number}"
    made = a_node(name, version, ready=ready)
    made["metadata"]["uid"] = f"uid-{name}"
    made["status"]["nodeInfo"] = {"bootID": f"boot-{boot}-{name}"}
    # Of a fault, so that what was kept is compared.
    hot = {"type": "AMDGPUThrottle", "status": str(ready == "Unknown")}
    made["status"]["conditions"].append(hot)
    return made


def _flaps() -> Iterator[Observation]:
    """Yield the flaps of a port of the first node."""
    for number in range(FLAPS):
        state = ("down", "up")[number % 2]
        yield _claim(number / FLAPS_PER_SECOND, "n0:HCA-1:1", "n0", state)


def _restart() -> Iterator[Observation]:
    """Yield that each port goes down: of a link one end is at a node."""
    begun = FLAPS / FLAPS_PER_SECOND
    for number in range(PORTS):
        when = begun + number * RESTART_SECONDS / PORTS
        link, is_at_leaf = divmod(number, 2)
        if is_at_leaf:
            yield _claim(when, f"leaf:{link}", None, "down")
        else:
            node = f"n{link % FLEET}"
            yield _claim(when, f"{node}:HCA-{link}:1", node, "down")


def _metrics() -> Iterator[Observation]:
    """Yield what a metrics store knew of each incident."""
    for number in range(STRUCK):
        node, when = f"n{number}", 3_640.0 + number * 100
        asked = Asked(f"4/{number}", node, at(when - 1_800), at(when + 600))
        kept = Kept(
            incident=asked.incident,
            node=node,
            begin=asked.begin,
            end=asked.end,
        )
        event = event_of(asked, kept, of_a_node())
        yield CloudEventPosted(
            observed_at=at(when),
            event=json.dumps(event).encode(),
            key=asked.key,
        )


LOGS: dict[str, Callable[[], Iterator[Observation]]] = {
    "calm": lambda: iter(()),
    "flapping": _flaps,
    "restarted": _restart,
    "metrics": _metrics,
}


def _claim(
    when: float, port: str, node: str | None, state: str
) -> Observation:
    data = {"state": state, "port": port} | ({"node": node} if node else {})
    named = f"{port}/{when}"
    event = {
        "specversion": "1.0",
        "id": named,
        "source": "ufm",
        "type": "link.state",
        "time": at(when).isoformat(),
        "subject": f"port/{port}",
        "data": data,
    }
    return CloudEventPosted(
        observed_at=at(when + 0.01),
        event=json.dumps(event).encode(),
        key=sha256(named.encode()).hexdigest(),
    )


async def _asked(
    opened: Callable[[int], Awaitable[LogReading]],
) -> list[Number]:
    prompt_collector()  # as where questions are answered
    knowledge, now = load(()), at(END)
    ever = Window(None, None)

    def why(now_read: LogReading) -> Awaitable[Why]:
        asked = WhyQuestion(node="n0", window=Window(at(3_600), None))
        return ask_why(now_read, asked, knowledge, now=now)

    def incidents(now_read: LogReading) -> Awaitable[Incidents]:
        asked = IncidentsQuestion(window=ever)
        return ask_incidents(now_read, asked, knowledge, now=now)

    numbers: list[Number] = []
    for ask in (why, incidents):
        took: dict[str, list[float]] = {name: [] for name in LOGS}
        found = dict.fromkeys(LOGS, 1)
        for turn in range(ASKED + 1):
            for log, name in enumerate(LOGS, 1):
                began = time.perf_counter()
                answer = await ask(await opened(log))
                if turn:
                    took[name].append(time.perf_counter() - began)
                if isinstance(answer, Incidents):
                    found[name] = len(answer.incidents)
        numbers += _compared(
            ask.__name__,
            {name: median(times) for name, times in took.items()},
            found,
        )
    return numbers


def _compared(
    ask: str, took: Mapping[str, float], found: Mapping[str, int]
) -> Iterator[Number]:
    """Compare logs with the calm one; of what adds incidents, each."""
    for name, seconds in took.items():
        say(f"  {ask}, {name}: {seconds * 1000:.1f} ms, {found[name]} found")
        if name == "calm":
            continue
        adds = found[name] > found["calm"] + 1
        each = found[name] / found["calm"] if adds else 1
        yield Number(
            name=f"{ask}, {name}, relative to calm"
            + (", of each incident" if adds else ""),
            unit="",
            values=[seconds / took["calm"] / each],
            target="<= 1.1" if name == "metrics" else "<= 1.2",
        )
