"""What happens to the cluster: API server, etcd, and the wire to them."""

import asyncio

from recorder.intake.endings import REFUSED, REWOUND, VANISHED
from tests.cluster.client import ApiError
from tests.cluster.definitions import CRDS, WORKLOADS_CRD
from tests.cluster.waiting import until
from tests.survival.fault import Fault, Strike
from tests.survival.site import Site
from tests.survival.wire import State

__all__ = ["CLUSTER_FAULTS"]

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


async def api_killed(strike: Strike) -> None:
    """SIGKILL of the API server: its watch cache forgets."""
    cluster = strike.site.cluster
    strike.reasons |= UNREADY
    await cluster.api_server.kill()
    strike.blind()
    await asyncio.sleep(strike.random.uniform(0.0, 2.0))
    await cluster.api_server.start()


async def api_upgraded(strike: Strike) -> None:
    """A clean stop, and a start with another flag."""
    cluster = strike.site.cluster
    flags = strike.random.choice(UPGRADES)
    strike.note(" ".join(f"{k}={v}" for k, v in flags.items()))
    strike.reasons |= UNREADY
    await cluster.api_server.stop()
    strike.blind()
    await cluster.api_server.start(**flags)


async def api_frozen_shortly(strike: Strike) -> None:
    """SIGSTOP for less than a stream may be silent."""
    await _freeze_api(strike, strike.random.uniform(0.5, 3.0))


async def api_frozen_long(strike: Strike) -> None:
    """SIGSTOP for longer than a stream may be silent."""
    await _freeze_api(strike, strike.random.uniform(*LONGER_THAN_IDLE))


async def wire_cut(strike: Strike) -> None:
    """Connections end, again and again, at any byte."""
    times = strike.random.randrange(1, 8)
    await strike.site.to_cluster.cut_often(times, strike.random)


async def wire_hung(strike: Strike) -> None:
    """Connections stay open and nothing comes, as behind a firewall."""
    await _spoil(strike, State.HUNG, strike.random.uniform(1.0, 8.0))


async def wire_slow(strike: Strike) -> None:
    """Everything comes, a little at a time."""
    await _spoil(strike, State.SLOW, strike.random.uniform(3.0, 6.0))


async def etcd_killed(strike: Strike) -> None:
    """SIGKILL of etcd."""
    cluster = strike.site.cluster
    await cluster.etcd.kill()
    strike.blind()
    await asyncio.sleep(strike.random.uniform(0.0, 1.5))
    await cluster.etcd.start()
    await _until_ready(strike.site)


async def etcd_frozen(strike: Strike) -> None:
    """SIGSTOP of etcd, for as long as its clients are patient, or longer."""
    strike.dim = True
    etcd = strike.site.cluster.etcd
    seconds = strike.random.choice([1.0, 3.0, 7.0])
    strike.note(f"{seconds:.1f} s")
    etcd.pause()
    try:
        await asyncio.sleep(seconds)
    finally:
        etcd.resume()
    await _until_ready(strike.site)


async def compacted(strike: Strike) -> None:
    """All recorders are down, and history is compacted past their place."""
    site = strike.site
    for recorder in site.recorders:
        recorder.kill()
    strike.blind()
    await site.traffic.burst(30)
    if strike.random.random() < 0.5:
        # Other kinds than Events live in the API server's memory.
        strike.note("with the watch cache")
        strike.reasons |= UNREADY
        await site.cluster.api_server.restart()
    revision = await site.cluster.oracle.caught_up()
    await site.cluster.etcd_client.compact(revision)
    for recorder in site.recorders:
        recorder.start()


async def restored(strike: Strike) -> None:
    """etcd goes back to an earlier snapshot."""
    site = strike.site
    backup = site.folder / "backup"
    await site.cluster.snapshot(backup)
    await site.traffic.burst(20)
    await site.traffic.stop()
    # A rewind of nothing that was seen cannot be told from none.
    await site.until_caught_up(epoch=(await site.head()).epoch)
    down = strike.random.random() < 0.5
    if down:
        strike.note("while down")
        for recorder in site.recorders:
            recorder.kill()
    strike.blind()
    strike.epochs += 1
    strike.reasons |= {REWOUND} | UNREADY
    await site.cluster.restore(backup, restart_clients=False)
    backup.unlink()
    await site.traffic.burst(strike.random.choice([0, 5, 60]))
    if down:
        for recorder in site.recorders:
            recorder.start()


async def kind_remade(strike: Strike) -> None:
    """A CRD is deleted with all of its objects, and made again."""
    site = strike.site
    strike.reasons |= {VANISHED}
    down = strike.random.random() < 0.4
    if down:
        strike.note("while down")
        for recorder in site.recorders:
            recorder.kill()
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
        for recorder in site.recorders:
            recorder.start()


async def _freeze_api(strike: Strike, seconds: float) -> None:
    strike.dim = True
    strike.note(f"{seconds:.1f} s")
    api = strike.site.cluster.api_server
    api.pause()
    try:
        await asyncio.sleep(seconds)
    finally:
        api.resume()


async def _spoil(strike: Strike, state: State, seconds: float) -> None:
    strike.dim = True
    strike.note(f"{seconds:.1f} s")
    await strike.site.to_cluster.spoil(state, seconds)


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


API = frozenset({"api"})
ETCD = frozenset({"etcd", "api"})
WIRE = frozenset({"wire"})
ALL = frozenset({"recorder", "api", "etcd", "wire", "database"})

CLUSTER_FAULTS = (
    Fault(name="API server killed", strike=api_killed, parts=API),
    Fault(name="API server upgraded", strike=api_upgraded, parts=API),
    Fault(name="API server frozen", strike=api_frozen_shortly, parts=API),
    Fault(name="API server frozen long", strike=api_frozen_long, parts=API),
    Fault(name="wire cut", strike=wire_cut, parts=WIRE),
    Fault(name="wire hung", strike=wire_hung, parts=WIRE),
    Fault(name="wire slow", strike=wire_slow, parts=WIRE),
    Fault(name="etcd killed", strike=etcd_killed, parts=ETCD),
    Fault(name="etcd frozen", strike=etcd_frozen, parts=ETCD),
    Fault(name="compacted", strike=compacted, parts=ALL),
    Fault(name="restored", strike=restored, parts=ALL),
    Fault(name="kind made again", strike=kind_remade, parts=ALL),
)
