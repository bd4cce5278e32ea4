"""What is asked around an incident, and how large the answer may be."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import msgspec
import pytest

from recorder.answers.incidents import Incident
from recorder.explain.knowledge import shipped
from recorder.explain.knowledge.rules import MetricOf
from recorder.facts import metrics
from recorder.facts.metrics import Kept, Series, series_of, summary_of
from recorder.measuring.asking import (
    EVENT_BYTES_MAX,
    Asked,
    asked_about,
    event_of,
)
from recorder.measuring.checking import check_store
from recorder.measuring.ports import Sampled
from recorder.measuring.store_file import (
    MetricsError,
    MetricsStore,
    Selector,
    load_store,
)
from recorder.model.outcomes import Cause
from recorder.model.zstd import compress
from tests.explain.tale import Tale
from tests.support.builders import START, at

ASKED = Asked("1/100", "gpu-001", at(-1800), at(600))
KEPT = Kept(incident="1/100", node="gpu-001", begin=ASKED.begin, end=ASKED.end)
OF_A_GPU = {
    "DCGM_FI_DEV_GPU_TEMP": (62, 1, 0),
    "DCGM_FI_DEV_MEMORY_TEMP": (70, 1, 0),
    "DCGM_FI_DEV_POWER_USAGE": (640, 15, 3),
    "DCGM_FI_DEV_SM_CLOCK": (1980, 0, 0),
    "DCGM_FI_DEV_GPU_UTIL": (98, 1.5, 0),
    "DCGM_FI_DEV_FB_USED": (71234, 0, 0),
    "DCGM_FI_DEV_XID_ERRORS": (0, 0, 0),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": (0, 0, 0),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": (0, 0, 0),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": (3, 0, 0),
}
"""Mean, spread and digits of what an exporter says of a busy GPU."""

OF_A_PORT = {
    "node_infiniband_state_id": (4, 0, 0),
    "node_infiniband_link_downed_total": (2, 0, 0),
}
OF_A_NODE = {
    "node_load1": (97, 6, 2),
    "node_memory_MemAvailable_bytes": (1.6e12, 2e8, 0),
    "node_boot_time_seconds": (1.79e9, 0, 0),
    "up": (1, 0, 0),
}


def of_a_node(samples: int = 160) -> list[Series]:
    """Return the shipped metrics of a node with eight GPUs and ports."""
    chance = Random(39)

    def one(
        name: str, labels: dict[str, str], form: tuple[float, float, int]
    ) -> Series:
        mean, spread, digits = form
        return series_of(
            name,
            labels,
            [
                (
                    START.timestamp() + 15 * number + 0.137,
                    round(chance.gauss(mean, spread), digits),
                )
                for number in range(samples)
            ],
        )

    return [
        *(
            one(name, {"gpu": str(gpu)}, form)
            for gpu in range(8)
            for name, form in OF_A_GPU.items()
        ),
        *(
            one(name, {"device": f"mlx5_{port}", "port": "1"}, form)
            for port in range(8)
            for name, form in OF_A_PORT.items()
        ),
        *(one(name, {}, form) for name, form in OF_A_NODE.items()),
    ]


@pytest.mark.parametrize(
    ("series", "nodes", "bytes_max"), [(12, 1, 10 << 10), (100, 2, 40 << 10)]
)
def test_an_incident_takes_little_room(
    series: int, nodes: int, bytes_max: int
) -> None:
    """Of 40 minutes, as the log compresses it."""
    every = of_a_node()[:series]
    assert len(every) == series
    event = msgspec.json.encode(event_of(ASKED, KEPT, every))
    assert nodes * len(compress(event)) <= bytes_max


def test_the_largest_metrics_are_left_out_by_name() -> None:
    event = event_of(ASKED, KEPT, of_a_node(samples=1000))
    size = len(msgspec.json.encode(event))
    assert EVENT_BYTES_MAX / 2 < size <= EVENT_BYTES_MAX
    data = event["data"]
    left = {one["name"] for one in data["series"]}
    assert left
    assert set(data["lacking"]) == {*OF_A_GPU, *OF_A_PORT, *OF_A_NODE} - left


def test_samples_are_columns_with_holes_and_their_own_times() -> None:
    chance = Random(4)
    for _ in range(200):
        step = chance.choice([5, 15, 60])
        samples = [
            (START.timestamp() + step * number + 0.5, chance.random())
            for number in range(60)
            if chance.random() > 0.3
        ]
        if not samples:
            continue
        made = series_of("up", {}, samples)
        again = msgspec.json.decode(msgspec.json.encode(made), type=Series)
        found = [*again.samples()]
        assert [value for _, value in found] == [v for _, v in samples]
        for (known, _), (shown, _) in zip(samples, found, strict=True):
            assert abs(known - shown) <= metrics.ALIGNED * step
        assert summary_of(again).last == samples[-1][1]


def incident(*, cause: str = "") -> Incident:
    tale = Tale("n1", "n2", "n3")
    if cause:
        tale.condition(30, "AMDGPUThrottle", "True", was="False", node="n1")
    tale.lost(60, "n1").boots(7200, "n1").ready(7210, "n1")
    return Incident.of(tale.verdicts("n1"), [])


def test_a_window_has_its_bounds_and_a_gang_one_healthy_peer() -> None:
    (hit,) = asked_about(incident(cause="x"), ["n3", "n2", "n1"])
    assert (hit.node, hit.peer, hit.peer_of) == ("n1", "n2", None)
    # It was away for longer than a window may be.
    assert (hit.begin, hit.end) == (at(30 - 1800), at(30 - 1800 + 7200))
    assert hit.of is MetricOf.NODE


def test_around_an_outage_of_the_control_plane_its_metrics_are_asked() -> None:
    lost = incident()
    outage = msgspec.structs.replace(
        lost.judged[0], cause=Cause.CONTROL_PLANE_OUTAGE
    )
    (asked,) = asked_about(Incident.of([outage] * 3, []), ["n2"])
    assert (asked.of, asked.peer) == (MetricOf.CONTROL_PLANE, None)


def test_a_fault_of_days_ago_leaves_room_for_the_loss() -> None:
    tale = Tale("n1")
    tale.condition(30, "AMDGPUThrottle", "True", was="False", node="n1")
    tale.lost(200_000, "n1").boots(200_300, "n1").ready(200_310, "n1")
    (asked,) = asked_about(Incident.of(tale.verdicts("n1")[-1:], []))
    assert asked.begin < at(200_000) < asked.end
    assert asked.end - asked.begin <= timedelta(hours=2)


class Known:
    """A store that has one metric of some nodes, by the label Hostname."""

    async def samples(self, selector: str, **_: object) -> list[Sampled]:
        if not selector.startswith("DCGM_FI_DEV_GPU_TEMP"):
            return []
        labels = {"Hostname": "gpu-1", "instance": "10.0.0.1:9400"}
        matched = "{" not in selector or 'Hostname="gpu-1"' in selector
        return [Sampled(labels, [(0.0, 1.0)])] if matched else []


@pytest.mark.parametrize(
    ("match", "nodes", "trouble"),
    [
        ('Hostname="{node}"', 1, "no series of 1 of 2 nodes"),
        (
            'node="{node}"',
            0,
            'no node matched: try match: Hostname="{node}"',
        ),
    ],
)
async def test_a_check_names_the_label_that_has_the_nodes(
    match: str, nodes: int, trouble: str
) -> None:
    store = MetricsStore(
        url="http://x.example", selectors=(Selector(match=match),)
    )
    rows = await check_store(
        store, Known(), shipped(), ["gpu-1", "gpu-2"], now=at()
    )
    by_name = {row.metric: row for row in rows}
    found = by_name["DCGM_FI_DEV_GPU_TEMP"]
    assert (found.nodes, found.trouble) == (nodes, trouble)
    assert by_name["up"].trouble == "the store has no such series"


def faulty() -> Iterator[tuple[str, str]]:
    yield "url: ftp://x", "line 1: url: it is not an address"
    yield "url: http://u:p@x", "line 1: url: it has a password in it"
    yield "url: http://x?a=b", "line 1: url: it has a query"
    yield "url: http://x\nremembers: 15 parsecs", "line 2: remembers: it is"
    yield "url: http://x\nselectors: []", "write 1 to 20 selectors"
    yield "url: http://x\nselectors: [{match: a}]", "write label matchers"
    yield (
        'url: http://x\nselectors: [{match: \'a="{node}"} or up{b="c"\'}]',
        "write label matchers",
    )
    yield "url: http://x\nheaders: {'a b': c}", '"a b" cannot be the name'
    yield "url: http://x\nrequests_a_minute: 0", "it is 1 to 6000"
    yield "url: http://x\ntoken: secret", "token"


@pytest.mark.parametrize(("text", "says"), [*faulty()])
def test_a_file_that_is_wrong_is_refused_with_its_line(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "metrics.yaml"
    path.write_text(text)
    with pytest.raises(MetricsError) as refused:
        load_store(path)
    assert says in str(refused.value)
    assert f'the metrics store in "{path}"' in str(refused.value)
