"""What Prometheus scraped of exporters, kept around what then happened.

Two nodes with an exporter each, which speaks the names of DCGM's: GPU 3 of n1
gets hot and reports an Xid, n2 stays well. Then the exporter of n1 is gone.
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import pytest

from recorder.explain.knowledge import shipped
from recorder.facts.metrics import Series
from recorder.measuring.following import Measuring
from recorder.measuring.prometheus import prometheus
from recorder.measuring.store_file import MetricsStore, Selector
from tests.measuring.stores import (
    Exporter,
    has,
    prometheus_with,
    scraping,
    seconds,
    until,
)
from tests.measuring.story import LogDoor, Times, written
from tests.measuring.test_kept import reading_of, why
from tests.support.builders import at
from tests.support.postgres import Database

TEMPERATURE = 'DCGM_FI_DEV_GPU_TEMP{gpu="%d",Hostname="%s"}'
XID = 'DCGM_FI_DEV_XID_ERRORS{gpu="%d",Hostname="%s"}'


class Scraped(NamedTuple):
    """A store, and when what it scraped was so."""

    description: MetricsStore
    times: Times


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraped]:
    """Scrape until the exporter of n1 is gone."""
    exporters = {node: Exporter() for node in ("n1", "n2")}
    for node, exporter in exporters.items():
        exporter.says = {
            name % (gpu, node): value
            for gpu in (3, 4)
            for name, value in ((TEMPERATURE, 60.0 + gpu), (XID, 0.0))
        }
    targets = {node: one.address for node, one in exporters.items()}
    folder = tmp_path_factory.mktemp("scraping")
    with prometheus_with(folder, scraped=[scraping(targets)]) as url:
        begun = seconds()
        # Of both nodes, so that what it changes from is known.
        until(lambda: has(url, "count(DCGM_FI_DEV_XID_ERRORS) == 4"))
        exporters["n1"].says |= {
            TEMPERATURE % (3, "n1"): 97.0,
            XID % (3, "n1"): 79.0,
        }
        until(lambda: has(url, "DCGM_FI_DEV_XID_ERRORS==79"))
        faulty = seconds()
        exporters["n1"].close()
        until(lambda: has(url, 'up{node="n1"}==0'))
        lost = seconds()
        yield Scraped(
            MetricsStore(
                url=url,
                selectors=(
                    Selector(metrics=("DCGM_*",), match='Hostname="{node}"'),
                    Selector(match='node="{node}"'),
                ),
                requests_a_minute=6_000,
            ),
            Times(begun - 60, faulty, lost, lost + 1),
        )
        exporters["n2"].close()


@pytest.mark.parametrize(
    ("condition", "cause", "says"),
    [
        ("XIDErrors", "gpu-fault", "Xid of GPU 3 changed from 0 to 79"),
        ("AMDGPUThrottle", "thermal-fault", "GPU 3 at 97 °C"),
        ("", "unrecorded", ""),
    ],
)
async def test_what_was_scraped_supports_the_fault_that_was_reported(
    database: Database,
    scraped: Scraped,
    condition: str,
    cause: str,
    says: str,
) -> None:
    """And is none where no other source reports one."""
    log = await written(database.dsn("writer"), scraped.times, condition)
    door = LogDoor(log, scraped.times.back + 700)
    async with (
        reading_of(database) as reading,
        prometheus(scraped.description) as store,
    ):
        work = Measuring(scraped.description, store, door, shipped())
        before = await why(reading, now=at(scraped.times.back + 900))
        assert await work.keep(reading, now=at(scraped.times.back + 900)) == 1
        await door.commit()
        again = await reading.again()
        assert await work.keep(again, now=at(scraped.times.back + 900)) == 0
        after = await why(reading, now=at(scraped.times.back + 900))
    await log.end()

    peer, event = [one["data"] for one in door.events]
    assert (peer["node"], event["node"]) == ("n2", "n1")
    assert before.cause == after.cause == cause
    assert before.confidence == after.confidence
    found = " ".join(step.says for step in after.steps)
    assert says in found
    if condition == "AMDGPUThrottle":
        assert "its peers at 64 °C, those of n2 at 64 °C" in found
    if not condition:
        assert msgspec.structs.asdict(before) == msgspec.structs.asdict(after)

    # A GPU that is gone has no temperature any more.
    last = {
        data["node"]: {
            one.name: max(at for at, _ in one.samples())
            for one in msgspec.convert(data["series"], list[Series])
        }
        for data in (event, peer)
    }
    ended = last["n1"]["DCGM_FI_DEV_GPU_TEMP"]
    assert ended < last["n1"]["up"]
    assert ended < last["n2"]["DCGM_FI_DEV_GPU_TEMP"]
