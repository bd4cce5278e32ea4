"""What breaks in a real cluster, one function each, and is mended again."""

import asyncio
import errno
import os
import shutil
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from recorder.embedded.passwords import SUPERUSER
from recorder.intake.endings import REFUSED, REWOUND, VANISHED
from tests.cluster.client import ApiError
from tests.cluster.definitions import CRDS, WORKLOADS_CRD
from tests.cluster.waiting import until
from tests.faults.schedule import Faults, Strike
from tests.support.wire import State, Wire
from tests.survival.database import ask
from tests.survival.recorder_command import PATIENCE
from tests.survival.recorder_process import Recorder
from tests.survival.site import UNREADABLE, Site

__all__ = ["FAULTS"]

FAULTS = Faults()
DAY = timedelta(days=1)

TAKEOVER_SECONDS = 10.0
LONGER_THAN_LEASE = (7.5, 9.0)
AHEAD_RECORDED = """
    update recorder.log_head
    set recorded_at = recorded_at + interval '1 day'
"""
AHEAD_LEASE = """
    update recorder.log_head
    set expires_at = clock_timestamp() + interval '1 day'
"""
LONGER_THAN_IDLE = (9.5, 11.0)
"""A stream is taken for dead after 6 s, a quiet one at 8 s at most."""

UNREADY = set(REFUSED.values())
"""What an API server that has just started may answer for too long, where
the machine is busy."""

UPGRADES: tuple[dict[str, str | None], ...] = (
    {"feature_gates": "WatchList=false"},
    {"feature_gates": "ListFromCacheSnapshot=false"},
    {"goaway_chance": "0.02"},
    {"delete_collection_workers": "2"},
)
CRD = f"{CRDS}/{WORKLOADS_CRD['metadata']['name']}"
OBJECTS = "/apis/kueue.x-k8s.io/v1beta1/namespaces/default/workloads"
LONGER_THAN_STATEMENT = (9.0, 11.0)
"""A statement may take 3 s at the server, and 8 s at the recorder."""

BLOCK = 1 << 20
LEFT_FREE = 4 << 20


class Freezable(Protocol):
    """What a signal can stop and resume."""

    def pause(self) -> None: ...
    def resume(self) -> None: ...


async def _freeze(
    strike: Strike[Site],
    what: Freezable,
    seconds: tuple[float, float],
    *,
    dim: bool = True,
) -> None:
    strike.dim |= dim
    for_seconds = strike.random.uniform(*seconds)
    strike.note(f"{for_seconds:.1f} s")
    what.pause()
    try:
        await asyncio.sleep(for_seconds)
    finally:
        what.resume()


async def _spoil(
    strike: Strike[Site],
    wire: Wire,
    state: State,
    seconds: tuple[float, float],
    *,
    dim: bool = True,
) -> None:
    strike.dim |= dim
    for_seconds = strike.random.uniform(*seconds)
    strike.note(f"{for_seconds:.1f} s")
    await wire.spoil(state, for_seconds)


# The recorder, its token and its clock.


@FAULTS("recorder")
async def recorder_killed(strike: Strike[Site]) -> None:
    """SIGKILL, some time in which things happen, and a new start."""
    site = strike.world
    victim = await _writer(site)
    victim.kill()
    await _meanwhile(strike)
    victim.start()


@FAULTS("database", "recorder")
async def recorder_stopped(strike: Strike[Site]) -> None:
    """A clean stop, and a new start."""
    victim = await _writer(strike.world)
    status = await victim.stop()
    assert status == 0, f"stopped with {status}: {victim.last_words()}"
    await _meanwhile(strike)
    victim.start()


@FAULTS("recorder")
async def recorder_frozen(strike: Strike[Site]) -> None:
    """SIGSTOP for less than the lease lasts."""
    await _freeze(strike, await _writer(strike.world), (0.5, 3.0))


@FAULTS("recorder", shared=False)
async def recorder_frozen_long(strike: Strike[Site]) -> None:
    """SIGSTOP for longer than the lease lasts, without a standby."""
    await _freeze(strike, await _writer(strike.world), LONGER_THAN_LEASE)


@FAULTS("database", "recorder", shared=True)
async def standby_after_kill(strike: Strike[Site]) -> None:
    """The writer dies for good, and the standby takes over."""
    victim = await _writer(strike.world)
    term = (await strike.world.head()).term
    victim.kill()
    await _taken_over(strike, term)
    victim.start()


@FAULTS("database", "recorder", shared=True)
async def standby_while_frozen(strike: Strike[Site]) -> None:
    """The writer freezes, the standby takes over, the writer thaws."""
    site = strike.world
    victim = await _writer(site)
    term = (await site.head()).term
    victim.pause()
    try:
        await _taken_over(strike, term)
        await site.traffic.burst(20)
    finally:
        victim.resume()
    # What it held in hand must not be committed; it stands by instead.
    await asyncio.sleep(strike.random.uniform(0.5, 2.0))
    assert await _writer(site) is not victim, "a thawed writer wrote again"


@FAULTS("api", "etcd", "token", "wire")
async def token_rotated(strike: Strike[Site]) -> None:
    """The old token is refused at once, the new one is there in time."""
    await _replace_account(strike.world)
    await strike.world.new_token()


@FAULTS("api", "etcd", "token", "wire")
async def token_late(strike: Strike[Site]) -> None:
    """The new token comes when patience is over: reported, and healed."""
    strike.reasons |= {REFUSED[401]}
    await _replace_account(strike.world)
    await asyncio.sleep(PATIENCE + strike.random.uniform(3.0, 4.0))
    await strike.world.new_token()


@FAULTS("clock", "recorder")
async def clock_a_day_ahead(strike: Strike[Site]) -> None:
    """The recorder's clock jumps by a day."""
    await _jump(strike, 1)


@FAULTS("clock", "recorder")
async def clock_a_day_back(strike: Strike[Site]) -> None:
    """The same, backwards."""
    await _jump(strike, -1)


@FAULTS("database", "recorder", shared=True)
async def database_clock_ahead(strike: Strike[Site]) -> None:
    """PostgreSQL's clock was a day ahead when it committed last."""
    site = strike.world
    await ask(site.database.dsn(SUPERUSER), AHEAD_RECORDED)
    await asyncio.sleep(strike.random.uniform(0.5, 2.0))


@FAULTS("database", "recorder", shared=True)
async def database_clock_back(strike: Strike[Site]) -> None:
    """The writer dies, and PostgreSQL's clock is set back by a day."""
    site = strike.world
    victim = await _writer(site)
    term = (await site.head()).term
    victim.kill()
    await ask(site.database.dsn(SUPERUSER), AHEAD_LEASE)
    await _taken_over(strike, term)
    victim.start()


async def _writer(site: Site) -> Recorder:
    """Return the recorder that holds the lease; wait until one does.

    With the embedded server there is but one, whose name holds no pid.
    """
    async with asyncio.timeout(30):
        while True:
            try:
                holder = (await site.head()).holder or "//"
            except UNREADABLE:
                holder = "//"
            for recorder in site.recorders:
                is_it = holder.split("/")[-2] == str(recorder.pid)
                if is_it or holder.endswith("/embedded"):
                    return recorder
            await asyncio.sleep(0.1)


async def _meanwhile(strike: Strike[Site]) -> None:
    seconds = strike.random.uniform(0.0, 2.0)
    strike.note(f"{seconds:.1f} s")
    await asyncio.sleep(seconds)


async def _taken_over(strike: Strike[Site], term: int) -> None:
    took = await strike.world.until_term_after(term, seconds=30)
    strike.world.takeovers.append(took)
    strike.note(f"taken over in {took:.1f} s")
    assert took <= TAKEOVER_SECONDS, f"a standby took {took:.1f} s"


async def _replace_account(site: Site) -> None:
    """Create the service account again: all of its tokens are void."""
    path = "/api/v1/namespaces/recorder/serviceaccounts"
    await site.cluster.api.delete(f"{path}/recorder")
    await site.cluster.api.create(
        path,
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "recorder"},
        },
    )


async def _jump(strike: Strike[Site], days: int) -> None:
    strike.dim = True
    clock = strike.world.clock
    await asyncio.sleep(strike.random.uniform(0.0, 1.0))
    clock.set_ahead(clock.offset + days * DAY)
    await asyncio.sleep(1.0)


# The API server, etcd, and the wire to them.


@FAULTS("api")
async def api_server_killed(strike: Strike[Site]) -> None:
    """SIGKILL of the API server: its watch cache forgets."""
    cluster = strike.world.cluster
    strike.reasons |= UNREADY
    await cluster.api_server.kill()
    strike.blind_at = strike.world.clock.now()
    await asyncio.sleep(strike.random.uniform(0.0, 2.0))
    await cluster.api_server.start()


@FAULTS("api")
async def api_server_upgraded(strike: Strike[Site]) -> None:
    """A clean stop, and a start with another flag."""
    cluster = strike.world.cluster
    flags = strike.random.choice(UPGRADES)
    strike.note(" ".join(f"{k}={v}" for k, v in flags.items()))
    strike.reasons |= UNREADY
    await cluster.api_server.stop()
    strike.blind_at = strike.world.clock.now()
    await cluster.api_server.start(**flags)


@FAULTS("api")
async def api_server_frozen(strike: Strike[Site]) -> None:
    """SIGSTOP for less than a stream may be silent."""
    await _freeze(strike, strike.world.cluster.api_server, (0.5, 3.0))


@FAULTS("api")
async def api_server_frozen_long(strike: Strike[Site]) -> None:
    """SIGSTOP for longer than a stream may be silent."""
    await _freeze(strike, strike.world.cluster.api_server, LONGER_THAN_IDLE)


@FAULTS("wire")
async def wire_cut(strike: Strike[Site]) -> None:
    """Connections end, again and again, at any byte."""
    times = strike.random.randrange(1, 8)
    await strike.world.to_cluster.cut_often(times, strike.random)


@FAULTS("wire")
async def wire_hung(strike: Strike[Site]) -> None:
    """Connections stay open without data, as with a firewall."""
    await _spoil(strike, strike.world.to_cluster, State.HUNG, (1.0, 8.0))


@FAULTS("wire")
async def wire_slow(strike: Strike[Site]) -> None:
    """Everything comes, a little at a time."""
    await _spoil(strike, strike.world.to_cluster, State.SLOW, (3.0, 6.0))


@FAULTS("api", "etcd")
async def etcd_killed(strike: Strike[Site]) -> None:
    """SIGKILL of etcd."""
    cluster = strike.world.cluster
    await cluster.etcd.kill()
    strike.blind_at = strike.world.clock.now()
    await asyncio.sleep(strike.random.uniform(0.0, 1.5))
    await cluster.etcd.start()
    await _until_ready(strike.world)


@FAULTS("api", "etcd")
async def etcd_frozen(strike: Strike[Site]) -> None:
    """SIGSTOP of etcd, for as long as its clients are patient, or longer."""
    seconds = strike.random.choice([1.0, 3.0, 7.0])
    await _freeze(strike, strike.world.cluster.etcd, (seconds, seconds))
    await _until_ready(strike.world)


@FAULTS("api", "database", "etcd", "recorder", "wire")
async def compacted(strike: Strike[Site]) -> None:
    """All recorders are down, and history is compacted past their place."""
    site = strike.world
    site.kill_recorders()
    strike.blind_at = strike.world.clock.now()
    await site.traffic.burst(30)
    if strike.random.random() < 0.5:
        # Other kinds than Events live in the API server's memory.
        strike.note("with the watch cache")
        strike.reasons |= UNREADY
        await site.cluster.api_server.restart()
    revision = await site.cluster.oracle.caught_up()
    await site.cluster.etcd_client.compact(revision)
    site.start_recorders()


@FAULTS("api", "database", "etcd", "recorder", "wire")
async def restored(strike: Strike[Site]) -> None:
    """etcd goes back to an earlier snapshot."""
    site = strike.world
    backup = site.folder / "backup"
    await site.cluster.snapshot(backup)
    await site.traffic.burst(20)
    await site.traffic.stop()
    # A rewind of nothing that was seen looks like none.
    await site.until_caught_up(epoch=(await site.head()).epoch)
    down = strike.random.random() < 0.5
    if down:
        strike.note("while down")
        site.kill_recorders()
    strike.blind_at = strike.world.clock.now()
    strike.epochs += 1
    strike.reasons |= {REWOUND} | UNREADY
    await site.cluster.restore(backup, restart_clients=False)
    backup.unlink()
    await site.traffic.burst(strike.random.choice([0, 5, 60]))
    if down:
        site.start_recorders()


@FAULTS("api", "database", "etcd", "recorder", "wire")
async def kind_made_again(strike: Strike[Site]) -> None:
    """A CRD is deleted with all of its objects, and made again."""
    site = strike.world
    strike.reasons |= {VANISHED}
    down = strike.random.random() < 0.4
    if down:
        strike.note("while down")
        site.kill_recorders()
    await site.cluster.api.delete(CRD)
    await until(lambda: _is_missing(site), "the CRD is gone", seconds=30)
    await asyncio.sleep(strike.random.choice([0.0, 0.0, 3.0]))
    await site.cluster.api.create(CRDS, WORKLOADS_CRD)
    await until(
        lambda: site.cluster.api.answers(OBJECTS),
        "the kind is served",
        seconds=30,
    )
    if down:
        site.start_recorders()


async def _until_ready(site: Site) -> None:
    await until(
        lambda: site.cluster.api.answers("/readyz"),
        "the API server is ready",
        seconds=60,
    )


async def _is_missing(site: Site) -> bool:
    try:
        await site.cluster.api.get(CRD)
    except ApiError as error:
        return error.status == 404
    return False


# PostgreSQL.


@FAULTS("database")
async def postgresql_killed(strike: Strike[Site]) -> None:
    """SIGKILL of the server; it is started again."""
    strike.world.database.kill()
    await asyncio.sleep(strike.random.uniform(0.0, 1.0))


@FAULTS("database", shared=False)
async def postgresql_killed_twice(strike: Strike[Site]) -> None:
    """SIGKILL of the server and of what starts it again."""
    database = strike.world.embedded
    both = [database.kill, database.kill_supervisor]
    strike.random.shuffle(both)
    for kill in both:
        kill()
    await asyncio.sleep(strike.random.uniform(0.0, 1.0))


@FAULTS("database")
async def postgresql_frozen(strike: Strike[Site]) -> None:
    """SIGSTOP for less than a statement may take."""
    await _freeze(strike, strike.world.database, (0.5, 2.5), dim=False)


@FAULTS("database")
async def postgresql_frozen_long(strike: Strike[Site]) -> None:
    """SIGSTOP for longer than a statement may take."""
    database = strike.world.database
    await _freeze(strike, database, LONGER_THAN_STATEMENT, dim=False)


@FAULTS("database", shared=True)
async def database_wire_cut(strike: Strike[Site]) -> None:
    """Connections end, again and again, in any statement."""
    times = strike.random.randrange(1, 6)
    await strike.world.shared.wire.cut_often(times, strike.random)


@FAULTS("database", shared=True)
async def database_wire_hung(strike: Strike[Site]) -> None:
    """Connections stay open and nothing comes back."""
    wire = strike.world.shared.wire
    await _spoil(strike, wire, State.HUNG, (1.0, 9.0), dim=False)


@FAULTS("database", shared=True)
async def database_wire_slow(strike: Strike[Site]) -> None:
    """Everything comes, a little at a time."""
    wire = strike.world.shared.wire
    await _spoil(strike, wire, State.SLOW, (3.0, 6.0), dim=False)


@FAULTS("database", "recorder", shared=False)
async def disk_full(strike: Strike[Site]) -> None:
    """The disk of the data folder fills up, to a little or to nothing."""
    site = strike.world
    seconds = strike.random.uniform(2.0, 5.0)
    if site.disk is None:
        await _no_room_by_setting(site, seconds)
        return
    left = strike.random.choice([0, LEFT_FREE])
    strike.note(f"{left >> 20} MiB left")
    ballast = site.disk / "ballast"
    try:
        _fill(ballast, left)
        await site.traffic.burst(50)
        await asyncio.sleep(seconds)
    finally:
        ballast.unlink(missing_ok=True)


def _fill(ballast: Path, left: int) -> None:
    free = shutil.disk_usage(ballast.parent).free
    with ballast.open("wb") as file:
        if left:
            os.posix_fallocate(file.fileno(), 0, free - left)
            return
        try:
            while True:
                file.write(bytes(BLOCK))
        except OSError as exc:
            if exc.errno != errno.ENOSPC:
                raise
            # What is still buffered has no room either.
            with suppress(OSError):
                file.close()


async def _no_room_by_setting(site: Site, seconds: float) -> None:
    recorder = site.recorder
    recorder.kill()
    before = dict(recorder.settings)
    recorder.settings["RECORDER_DISK_FREE_MIN"] = "99.99"
    recorder.start()
    await asyncio.sleep(seconds)
    recorder.kill()
    recorder.settings = before
    recorder.start()
