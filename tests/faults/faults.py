"""Faults of the fake world, one function each, and their repair.

A fault lasts for a while of its own, drawn from a seed; the cluster goes on
meanwhile. What is broken when a function returns stays broken on purpose: the
next fault finds it so, and `World.mend` ends everything.
"""

import asyncio

from tests.faults.schedule import Faults, Strike
from tests.faults.world import PLURALS, WIDGETS, World
from tests.support.fake_cluster import Failure

__all__ = ["FAULTS"]

FAULTS = Faults()

DAY = 86_400.0
HTTP_NOT_FOUND = 404
GARBAGE = (
    b'{"type":"WHAT","object":{}}\n',
    b'{"type":"ADDED","object":\n',
    b"upstream connect error\n",
)


async def _while(
    strike: Strike[World], least: float = 0.01, most: float = 60.0
) -> None:
    """Let some time pass, more often a little than a lot."""
    share = strike.random.random()
    await asyncio.sleep(least * (most / least) ** share)


# The recorder.


@FAULTS()
async def recorder_killed(strike: Strike[World]) -> bool:
    return await _killed(strike)


@FAULTS()
async def recorder_killed_in_commit(strike: Strike[World]) -> bool:
    strike.world.database.seconds = 0.5
    process = strike.world.recording()
    if process is not None and process.session is not None:
        for _ in range(50):
            if process.session.in_hand:
                break
            await asyncio.sleep(0.1)
    done = await _killed(strike)
    strike.world.database.seconds = 0.0
    return done


async def _killed(strike: Strike[World]) -> bool:
    world = strike.world
    if not world.processes:
        return False
    await world.kill(strike.random.choice(world.processes))
    if not world.processes:
        await _while(strike, 0.001, 30)
        world.start()
    return True


@FAULTS()
async def recorder_stopped(strike: Strike[World]) -> bool:
    world = strike.world
    process = world.recording()
    if process is None:
        return False
    world.processes.remove(process)
    await process.stop()
    await _while(strike, 0.001, 30)
    if not world.processes:
        world.start()
    return True


@FAULTS()
async def standby_takes_over(strike: Strike[World]) -> bool:
    """The writer is cut off, and comes back when another writes."""
    world = strike.world
    first = world.recording()
    if first is None or first.session is None:
        return False
    if len(world.processes) == 1:
        world.start()
    cut_off = first.session
    cut_off.is_cut_off = True
    await _while(strike, 2, 40)
    cut_off.is_cut_off = False
    await _while(strike, 0.01, 20)
    for process in world.processes[:-2]:
        await world.kill(process)
    return True


# PostgreSQL.


@FAULTS()
async def log_away(strike: Strike[World]) -> None:
    strike.world.database.away = "connection refused"
    await _while(strike)
    strike.world.database.away = None


@FAULTS()
async def commit_lost(strike: Strike[World]) -> None:
    strike.world.database.fates += ["lost"] * strike.random.randrange(1, 4)


@FAULTS()
async def commit_unanswered(strike: Strike[World]) -> None:
    strike.world.database.fates += ["unanswered"] * strike.random.randrange(
        1, 4
    )


@FAULTS()
async def log_slow(strike: Strike[World]) -> None:
    strike.world.database.seconds = strike.random.choice([0.2, 3.0, 20.0])
    await _while(strike, 1)
    strike.world.database.seconds = 0.0


@FAULTS()
async def disk_full(strike: Strike[World]) -> None:
    strike.world.database.disk = "the disk is full"
    await _while(strike)
    strike.world.database.disk = None


@FAULTS()
async def log_disk_full(strike: Strike[World]) -> None:
    strike.world.database.away = "no space left on device"
    await _while(strike)
    strike.world.database.away = None


# The API server.


@FAULTS()
async def api_server_killed(strike: Strike[World]) -> None:
    await strike.world.cluster.down()
    await _while(strike)
    await strike.world.cluster.up()


@FAULTS()
async def api_server_restarted(strike: Strike[World]) -> None:
    """Its caches begin with it: no watch begins before."""
    await strike.world.cluster.down()
    await _while(strike, 0.01, 30)
    strike.world.cluster.begin_caches()
    await strike.world.cluster.up()


@FAULTS()
async def api_server_stalled(strike: Strike[World]) -> None:
    cluster = strike.world.cluster
    cluster.flowing.clear()
    if strike.random.random() < 1 / 2:
        cluster.answering.clear()
    await _while(strike, 0.01, 200)
    cluster.flowing.set()
    cluster.answering.set()


@FAULTS()
async def api_server_upgraded(strike: Strike[World]) -> None:
    """Another release, which does not know its tokens and roles yet."""
    cluster, dice = strike.world.cluster, strike.random
    await cluster.down()
    await _while(strike, 1, 30)
    cluster.begin_caches()
    cluster.version = f"v1.{dice.randrange(30, 40)}.0-fake"
    cluster.aggregated = dice.random() < 1 / 2
    cluster.expiry = dice.choice(["frame", "status"])
    refusals = [
        Failure(status, times=dice.randrange(6)) for status in (401, 403)
    ]
    cluster.failures += refusals
    await cluster.up()


@FAULTS()
async def api_server_refuses(strike: Strike[World]) -> None:
    plural = strike.random.choice([None, *PLURALS])
    status = strike.random.choice([401, 403, 404, 429, 500, 503])
    failure = Failure(status, plural=plural, times=10_000)
    strike.world.cluster.failures.append(failure)
    strike.world.cluster.cut(plural)
    # A collection that is not found for longer counts as no longer served.
    await _while(strike, 0.01, 20 if status == HTTP_NOT_FOUND else 120)
    failure.times = 0


# The network.


@FAULTS()
async def connections_cut(strike: Strike[World]) -> None:
    strike.world.cluster.cut(strike.random.choice([None, *PLURALS]))


@FAULTS()
async def connections_half_open(strike: Strike[World]) -> None:
    strike.world.cluster.vanish(strike.random.choice([None, *PLURALS]))


@FAULTS()
async def connections_slow(strike: Strike[World]) -> None:
    cluster = strike.world.cluster
    cluster.portion = strike.random.choice([1, 7, 100])
    cluster.pause = strike.random.choice([0.0001, 0.02, 1.0])
    await _while(strike, 0.1)
    cluster.portion, cluster.pause = None, 0.0


@FAULTS()
async def frames_cut(strike: Strike[World]) -> None:
    for plural in PLURALS:
        after = strike.random.randrange(1, 900)
        strike.world.cluster.cut_after[plural] = after
        strike.world.cluster.cut(plural)


@FAULTS()
async def list_cut(strike: Strike[World]) -> None:
    """The next list gets a part of the answer."""
    for plural in PLURALS:
        strike.world.cluster.cut_lists[plural] = strike.random.randrange(
            1, 900
        )


@FAULTS()
async def frame_unreadable(strike: Strike[World]) -> None:
    garbage = strike.random.choice(GARBAGE)
    strike.world.cluster.send(strike.random.choice(PLURALS), garbage)


@FAULTS()
async def watches_ended(strike: Strike[World]) -> None:
    strike.world.cluster.end(strike.random.choice([None, *PLURALS]))


# etcd.


@FAULTS()
async def compacted(strike: Strike[World]) -> bool:
    return _compact(strike)


def _compact(strike: Strike[World]) -> bool:
    world = strike.world
    if world.followed() != strike.world.cluster.epoch:
        # Compacted past all that was seen, a history that was rewound
        # is like one that went on unobserved.
        return False
    strike.world.cluster.expiry = strike.random.choice(["frame", "status"])
    strike.world.cluster.compact()
    return True


@FAULTS()
async def compacted_past_place(strike: Strike[World]) -> bool:
    """History continues and is forgotten while it is not observed."""
    world, cluster = strike.world, strike.world.cluster
    if strike.random.random() < 1 / 2 or not world.processes:
        await cluster.down()
        await _while(strike, 1, 40)
        world.write()
        done = _compact(strike)
        await cluster.up()
        return done
    for process in list(world.processes):
        await world.kill(process)
    await _while(strike, 1, 40)
    for _ in range(strike.random.randrange(4)):
        world.write()
        world.delete()
    done = _compact(strike)
    world.start()
    return done


@FAULTS()
async def etcd_restored(strike: Strike[World]) -> bool:
    """An earlier snapshot, of this history or of one before it."""
    world, cluster = strike.world, strike.world.cluster
    parent, backup = strike.random.choice(world.backups)
    is_down = strike.random.random() < 1 / 2
    if is_down:
        await cluster.down()
        await _while(strike, 0.1, 30)
    done = world.rewind(parent, backup)
    if is_down:
        await cluster.up()
    return done


# The machine.


@FAULTS()
async def clock_forward(strike: Strike[World]) -> bool:
    return await _jump(strike, DAY)


@FAULTS()
async def clock_back(strike: Strike[World]) -> bool:
    return await _jump(strike, -DAY)


async def _jump(strike: Strike[World], seconds: float) -> bool:
    """Set the clock, and let a process live to report it.

    A jump without a recorder looks like an absence, or like none.
    """
    world = strike.world
    before = world.recording()
    await asyncio.sleep(2)  # so that it has read the clock
    if before is None or world.recording() is not before:
        return False
    reported = len(world.database.log.jumps())
    world.jump(seconds)
    for _ in range(600):
        if len(world.database.log.jumps()) > reported:
            break
        await asyncio.sleep(0.1)
    return True


# What operators do.


@FAULTS()
async def token_rotated(strike: Strike[World]) -> None:
    """The old one is refused, and the new one is there a little later."""
    strike.world.cluster.token = f"token-{strike.random.random()}"
    if strike.random.random() < 1 / 2:
        strike.world.cluster.cut()
    await _while(strike, 0.01, 60)
    strike.world.write_token()


@FAULTS()
async def crd_made_again(strike: Strike[World]) -> bool:
    cluster = strike.world.cluster
    if WIDGETS.plural not in cluster.kinds:
        return False
    cluster.remove_crd(WIDGETS.plural)
    await _while(strike, 0.01, 60)
    cluster.add_crd(WIDGETS)
    for _ in range(strike.random.randrange(3)):
        cluster.put(WIDGETS.plural, f"widgets-{strike.random.randrange(8)}")
    return True
