"""Every benchmark runs, at its smallest, and prints its figures.

One of them each commit: a few start a cluster and wait for its leases.
"""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from bench import __main__ as command
from tests.support.sampling import sampled

pytestmark = pytest.mark.timeout(300)

SMALL_LOG = {"answers_log.FLEET": 400, "answers_log.INCIDENTS_COUNT": 48}

SMALLEST: dict[str, dict[str, Any]] = {
    "mixed": {"mixed.DOCUMENTS": 100},
    "bytes": {"size.DOCUMENTS": {"nodes": 100}},
    "questions": SMALL_LOG
    | {
        "questions.ENTRIES": 8_000,
        "questions.ASKED": 2,
        "questions.ASKED_OF_ALL": 2,
        "questions.PROCESSES": 2,
    },
    "jobs": {
        "jobs.WORKLOADS": 80,
        "jobs.BLOCK": 40,
        "jobs.INCIDENTS": 10,
        "jobs.ASKED": 2,
    },
    "cold": SMALL_LOG | {"cold.ENTRIES": 8_000, "cold.ASKED": 5},
    "deep": SMALL_LOG
    | {
        "deep.ENTRIES": 8_000,
        "deep.EARLIER": 2,
        "deep.ASKED": 3,
        "deep.ASKED_OF_ALL": 1,
    },
    "list": {"listing.PODS": 200},
    "claims": {
        "claims.CLAIMS": 600,
        "claims.SECONDS": 1,
        "claims.TURNS": 2,
        "claims.WARM_UP_SECONDS": 1,
    },
    "flaps": {
        "flaps.FLAPS": 1_000,
        "flaps.PORTS": 400,
        "flaps.FLEET": 40,
        "flaps.STRUCK": 2,
        "flaps.ASKED": 2,
    },
    "latency": {
        "latency.RATE": 50,
        "latency.SECONDS": 2,
        "latency.WARM_UP_SECONDS": 1,
    },
    "copy": {"copying.DOCUMENTS": 100},
    "behind": {"behind.CHANGES": 100, "behind.WARM_UP": 20},
    "processor": {
        "processor.CHANGES": 200,
        "processor.WARM_UP": 20,
        "processor.RATES": {"at full speed": 0.0},
    },
    "redact": {"redact.DOCUMENTS": 20, "redact.TURNS": 1},
    "rederive": {"rederiving.DOCUMENTS": 100},
    "prove": {"proving.DOCUMENTS": 100},
    "retain": {"retaining.DOCUMENTS": 100},
    "days": {
        "thirty_days.DOCUMENTS": 20,
        "thirty_days.DAYS": 3,
        "thirty_days.SETTLED": 2,
    },
    "beside": {"beside.DOCUMENTS": 100, "beside.SECONDS": 0.2},
    "restart": {"restart.PODS": 50},
    "walk": {
        "walking.AWAY_SECONDS": 2.0,
        "walking.BESIDE_SECONDS": 1.0,
        "walking.AFTER_SECONDS": 10.0,
    },
    "takeover": {
        "takeover.CHANGES": 200,
        "takeover.RATE": 10.0,  # beyond the takeover, or nothing is written
        "takeover.TRIES": 1,
        "takeover.SIGNALS": (signal.SIGKILL,),
    },
    "columns": {"completing.DOCUMENTS": 600, "completing.TURNS": 1},
    "access": {"reviewing.ASKED": 2},
    "audit": {"auditing.ROUNDS": 1, "auditing.RECORDS": 200},
    "dump": {"dumping.EVENTS": 200},
    "import": {"importing.RECORDS": 200},
    "webhook": {"sending.SECONDS": 1.0, "sending.WARM_UP_SECONDS": 0.5},
    "help": {"start_up.TRIES": 1},
    "timeline": {"timeline.FRAMES": 5},
    "paint": {"first_paint.TRIES": 1},
    "api": SMALL_LOG
    | {
        "serving.ENTRIES": 8_000,
        "serving.ASKED": 2,
        "news.SECONDS": 1,
        "news.OF_A_NODE": 10,
        "news.STORM": 4,
    },
}


def test_every_benchmark_is_run() -> None:
    assert SMALLEST.keys() == command.BENCHES.keys()


@pytest.mark.parametrize("name", sampled("benchmarks", SMALLEST, 1))
def test_a_benchmark_prints_its_figures(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    written = tmp_path / "bench.json"
    for constant, value in SMALLEST[name].items():
        monkeypatch.setattr(f"bench.{constant}", value)
    monkeypatch.setattr(
        sys, "argv", ["bench", name, "--runs", "1", "--json", str(written)]
    )

    command.main()

    printed = capsys.readouterr().out
    numbers = json.loads(written.read_text())["numbers"]
    assert numbers
    for number in numbers:
        assert number["name"] in printed
