"""What probes and Prometheus receive."""

from collections.abc import AsyncIterator
from dataclasses import replace

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from recorder.doctor.health import HealthServer
from recorder.intake.gaps import Outcome, closed
from recorder.intake.progress import Progress
from recorder.intake.state import OpenGap, ResumePoint, StreamState
from recorder.listening import ListenError
from recorder.model.moment import written
from recorder.model.observation import RequestFailed
from recorder.model.reference import EntryName
from tests.support.builders import PODS, a_frame, an_object, at


@pytest.fixture
def progress() -> Progress:
    made = Progress(state="recording", log=1, size=7, entries=5, batches=2)
    made.commit_seconds = 0.5
    made.note(a_frame(PODS, "ADDED", an_object("a", 1)))
    made.gaps["watch expired (410)"] = 2
    made.streams["watch", "v1/pods"] = ResumePoint(
        state=StreamState.LIVE,
        vouched_until=at(),
        gap=OpenGap(position=3, reason="x", since=None, resource_version=None),
    )
    return made


@pytest.fixture
async def url(progress: Progress) -> AsyncIterator[str]:
    async with HealthServer(progress).listen("127.0.0.1:0") as address:
        yield f"http://{address}"


async def get(url: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()


async def test_it_lives_while_it_answers(url: str) -> None:
    assert await get(f"{url}/healthz") == (200, "ok\n")


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("starting", 503),
        ("recording", 200),
        ("standing-by", 200),
        ("waiting", 503),
        ("stopped", 503),
    ],
)
async def test_ready_is_recording_or_standing_by(
    url: str, progress: Progress, state: str, status: int
) -> None:
    progress.state, progress.waiting_for = state, "the reason"
    progress.streams["watch", "v1/pods"].gap = None

    assert await get(f"{url}/readyz") == (status, f"{state}: the reason\n")


@pytest.mark.parametrize(
    ("streams", "says"),
    [
        ((), "waiting: no resource has been listed yet"),
        (("backing-off", "backing-off"), "waiting: the cluster is away"),
        (("backing-off", "live"), "recording"),
        (("backing-off", "forbidden"), "recording"),
    ],
)
async def test_nothing_is_recorded_while_no_resource_is_watched(
    url: str, progress: Progress, streams: tuple[str, ...], says: str
) -> None:
    if streams:
        progress.note(
            RequestFailed(
                observed_at=at(),
                resource=PODS,
                status=0,
                reason="the cluster is away",
            )
        )
    progress.streams = {
        ("watch", f"v1/{number}"): ResumePoint(state=StreamState(state))
        for number, state in enumerate(streams)
    }

    status, body = await get(f"{url}/readyz")

    assert body.partition(";")[0].strip() == says
    assert status == (200 if says == "recording" else 503)


async def test_ready_says_which_resources_are_behind_since_when_and_why(
    url: str, progress: Progress
) -> None:
    """An API server that flaps is no reason to send nothing here."""
    gap = OpenGap(position=3, reason="x", since=at(), resource_version=None)
    live = ResumePoint(state=StreamState.LIVE, vouched_until=at(5))
    away = ResumePoint(state=StreamState.BACKING_OFF, vouched_until=at(5))
    progress.streams = {("watch", "v1/nodes"): live}
    assert await get(f"{url}/readyz") == (200, "recording\n")

    progress.streams["watch", "v1/pods"] = replace(live, gap=gap)
    progress.streams["watch", "batch/v1/jobs"] = away

    jobs = f"batch/v1/jobs since {written(at(5))} (backing-off)"
    pods = f"v1/pods since {written(at())} (x)"
    says = f"recording; behind: {jobs}, {pods}\n"
    assert await get(f"{url}/readyz") == (200, says)

    for number in range(10):
        progress.streams["watch", f"z/{number}"] = away
    assert (await get(f"{url}/readyz"))[1].endswith(", 7 more\n")


async def test_metrics_count_in_the_words_of_prometheus(url: str) -> None:
    _, text = await get(f"{url}/metrics")
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }

    reason = ("reason", "watch expired (410)")
    added = ("resource", "v1/pods"), ("type", "ADDED")
    assert samples["recorder_entries_total",] == 5
    assert samples["recorder_commit_seconds_sum",] == 0.5
    assert samples["recorder_open_gaps",] == 1
    assert samples["recorder_gaps_total", reason] == 2
    assert samples["recorder_frames_total", *added] == 1


async def test_commits_and_gaps_are_measured(
    url: str, progress: Progress
) -> None:
    progress.note_commit(0.02)
    progress.note_commit(3.0)
    hidden, healed = (
        closed(
            OpenGap(position=3, reason="x", since=at(), resource_version=None),
            at=at(90),
            name=EntryName(1, 3),
            key=("watch", "v1/pods"),
            version=None,
            outcome=Outcome("a list", possible),
        )
        for possible in (["came and went"], [])
    )
    progress.note_drafts([hidden, healed])

    _, text = await get(f"{url}/metrics")

    assert 'recorder_commit_seconds_bucket{le="0.025"} 1.0' in text
    assert 'recorder_commit_seconds_bucket{le="5.0"} 2.0' in text
    assert 'recorder_commit_seconds_bucket{le="+Inf"} 4.0' in text
    assert 'recorder_gap_seconds_total{resource="v1/pods"} 90.0' in text
    assert "process_cpu_seconds_total" in text


async def test_nothing_names_an_object(url: str) -> None:
    _, text = await get(f"{url}/metrics")

    assert "uid-a" not in text
    assert "train" not in text


@pytest.mark.parametrize("address", ["", "nonsense", "127.0.0.1:port"])
async def test_a_malformed_address_is_named(address: str) -> None:
    with pytest.raises(ListenError, match="HOST:PORT"):
        async with HealthServer(Progress()).listen(address):
            pass


async def test_an_address_that_is_taken_is_named(url: str) -> None:
    taken = url.removeprefix("http://")
    with pytest.raises(ListenError, match=taken):
        async with HealthServer(Progress()).listen(taken):
            pass
