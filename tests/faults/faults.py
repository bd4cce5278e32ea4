"""What goes wrong, one method each, and what mends it again.

A fault lasts for a while of its own, drawn from a seed; the cluster goes on
meanwhile. What is broken when a method returns stays broken on purpose: the
next fault finds it so, and `Faults.mend` ends everything.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from tests.faults.world import PLURALS, WIDGETS, World
from tests.support.fake_cluster import Failure

__all__ = ["Faults"]

DAY = 86_400.0
HTTP_NOT_FOUND = 404
GARBAGE = (
    b'{"type":"WHAT","object":{}}\n',
    b'{"type":"ADDED","object":\n',
    b"upstream connect error\n",
)


class Faults:
    """Breaks a world, and counts how."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._cluster = world.cluster
        self._database = world.database
        self._dice = world.dice
        self.injected: Counter[str] = Counter()
        self.every: list[Callable[[], Awaitable[bool]]] = [
            self.recorder_killed,
            self.recorder_killed_in_commit,
            self.recorder_stopped,
            self.standby_takes_over,
            self.log_away,
            self.commit_lost,
            self.commit_unanswered,
            self.log_slow,
            self.disk_full,
            self.log_disk_full,
            self.api_server_killed,
            self.api_server_restarted,
            self.api_server_stalled,
            self.api_server_upgraded,
            self.api_server_refuses,
            self.connections_cut,
            self.connections_half_open,
            self.connections_slow,
            self.frames_cut,
            self.list_cut,
            self.frame_unreadable,
            self.watches_ended,
            self.compacted,
            self.compacted_past_place,
            self.etcd_restored,
            self.clock_forward,
            self.clock_back,
            self.token_rotated,
            self.crd_made_again,
        ]

    async def inject(self, fault: Callable[[], Awaitable[bool]]) -> str:
        """Let one thing go wrong; give its name."""
        name = fault.__name__
        if not await fault():
            return f"{name} (not possible now)"
        self.injected[name] += 1
        return name

    async def mend(self) -> None:
        """End everything that is still wrong, but keep what is lost."""
        world, cluster, database = self._world, self._cluster, self._database
        cluster.failures.clear()
        cluster.cut_after.clear()
        cluster.cut_lists.clear()
        cluster.flowing.set()
        cluster.answering.set()
        cluster.portion, cluster.pause = None, 0.0
        database.away = database.disk = None
        database.seconds = 0.0
        database.fates.clear()
        for process in world.processes:
            if process.session is not None:
                process.session.is_cut_off = False
        if not world.processes:
            world.start()

    async def _while(self, least: float = 0.01, most: float = 60.0) -> None:
        """Let some time pass, more often a little than a lot."""
        share = self._dice.random()
        await asyncio.sleep(least * (most / least) ** share)

    # The recorder.

    async def recorder_killed(self) -> bool:
        return await self._killed()

    async def recorder_killed_in_commit(self) -> bool:
        self._database.seconds = 0.5
        process = self._world.recording()
        if process is not None and process.session is not None:
            for _ in range(50):
                if process.session.in_hand:
                    break
                await asyncio.sleep(0.1)
        done = await self._killed()
        self._database.seconds = 0.0
        return done

    async def _killed(self) -> bool:
        world = self._world
        if not world.processes:
            return False
        await world.kill(self._dice.choice(world.processes))
        if not world.processes:
            await self._while(0.001, 30)
            world.start()
        return True

    async def recorder_stopped(self) -> bool:
        world = self._world
        process = world.recording()
        if process is None:
            return False
        world.processes.remove(process)
        await process.stop()
        await self._while(0.001, 30)
        if not world.processes:
            world.start()
        return True

    async def standby_takes_over(self) -> bool:
        """The writer is cut off, and comes back when another writes."""
        world = self._world
        first = world.recording()
        if first is None or first.session is None:
            return False
        if len(world.processes) == 1:
            world.start()
        cut_off = first.session
        cut_off.is_cut_off = True
        await self._while(2, 40)
        cut_off.is_cut_off = False
        await self._while(0.01, 20)
        for process in world.processes[:-2]:
            await world.kill(process)
        return True

    # PostgreSQL.

    async def log_away(self) -> bool:
        self._database.away = "connection refused"
        await self._while()
        self._database.away = None
        return True

    async def commit_lost(self) -> bool:
        self._database.fates += ["lost"] * self._dice.randrange(1, 4)
        return True

    async def commit_unanswered(self) -> bool:
        self._database.fates += ["unanswered"] * self._dice.randrange(1, 4)
        return True

    async def log_slow(self) -> bool:
        self._database.seconds = self._dice.choice([0.2, 3.0, 20.0])
        await self._while(1)
        self._database.seconds = 0.0
        return True

    async def disk_full(self) -> bool:
        self._database.disk = "the disk is full"
        await self._while()
        self._database.disk = None
        return True

    async def log_disk_full(self) -> bool:
        self._database.away = "no space left on device"
        await self._while()
        self._database.away = None
        return True

    # The API server.

    async def api_server_killed(self) -> bool:
        await self._cluster.down()
        await self._while()
        await self._cluster.up()
        return True

    async def api_server_restarted(self) -> bool:
        """Its caches begin with it: no watch begins before."""
        await self._cluster.down()
        await self._while(0.01, 30)
        self._cluster.begin_caches()
        await self._cluster.up()
        return True

    async def api_server_stalled(self) -> bool:
        cluster = self._cluster
        cluster.flowing.clear()
        if self._dice.random() < 1 / 2:
            cluster.answering.clear()
        await self._while(0.01, 200)
        cluster.flowing.set()
        cluster.answering.set()
        return True

    async def api_server_upgraded(self) -> bool:
        """Another release, which does not know its tokens and roles yet."""
        cluster, dice = self._cluster, self._dice
        await cluster.down()
        await self._while(1, 30)
        cluster.begin_caches()
        cluster.version = f"v1.{dice.randrange(30, 40)}.0-fake"
        cluster.aggregated = dice.random() < 1 / 2
        cluster.expiry = dice.choice(["frame", "status"])
        refusals = [
            Failure(status, times=dice.randrange(6)) for status in (401, 403)
        ]
        cluster.failures += refusals
        await cluster.up()
        return True

    async def api_server_refuses(self) -> bool:
        plural = self._dice.choice([None, *PLURALS])
        status = self._dice.choice([401, 403, 404, 429, 500, 503])
        failure = Failure(status, plural=plural, times=10_000)
        self._cluster.failures.append(failure)
        self._cluster.cut(plural)
        # A collection that is not found for longer counts as no longer served.
        await self._while(0.01, 20 if status == HTTP_NOT_FOUND else 120)
        failure.times = 0
        return True

    # The network.

    async def connections_cut(self) -> bool:
        self._cluster.cut(self._dice.choice([None, *PLURALS]))
        return True

    async def connections_half_open(self) -> bool:
        self._cluster.vanish(self._dice.choice([None, *PLURALS]))
        return True

    async def connections_slow(self) -> bool:
        cluster = self._cluster
        cluster.portion = self._dice.choice([1, 7, 100])
        cluster.pause = self._dice.choice([0.0001, 0.02, 1.0])
        await self._while(0.1)
        cluster.portion, cluster.pause = None, 0.0
        return True

    async def frames_cut(self) -> bool:
        for plural in PLURALS:
            after = self._dice.randrange(1, 900)
            self._cluster.cut_after[plural] = after
            self._cluster.cut(plural)
        return True

    async def list_cut(self) -> bool:
        """Whoever lists next gets a part of the answer."""
        for plural in PLURALS:
            self._cluster.cut_lists[plural] = self._dice.randrange(1, 900)
        return True

    async def frame_unreadable(self) -> bool:
        garbage = self._dice.choice(GARBAGE)
        self._cluster.send(self._dice.choice(PLURALS), garbage)
        return True

    async def watches_ended(self) -> bool:
        self._cluster.end(self._dice.choice([None, *PLURALS]))
        return True

    # etcd.

    async def compacted(self) -> bool:
        return self._compact()

    def _compact(self) -> bool:
        world = self._world
        if world.followed() != self._cluster.epoch:
            # Compacted past all that was seen, a history that was rewound
            # is like one that went on while nobody looked.
            return False
        self._cluster.expiry = self._dice.choice(["frame", "status"])
        self._cluster.compact()
        return True

    async def compacted_past_place(self) -> bool:
        """History goes on and is forgotten while nobody can look."""
        world, cluster = self._world, self._cluster
        if self._dice.random() < 1 / 2 or not world.processes:
            await cluster.down()
            await self._while(1, 40)
            world.write()
            done = self._compact()
            await cluster.up()
            return done
        for process in list(world.processes):
            await world.kill(process)
        await self._while(1, 40)
        for _ in range(self._dice.randrange(4)):
            world.write()
            world.delete()
        done = self._compact()
        world.start()
        return done

    async def etcd_restored(self) -> bool:
        """An earlier snapshot, of this history or of one before it."""
        world, cluster = self._world, self._cluster
        parent, backup = self._dice.choice(world.backups)
        is_down = self._dice.random() < 1 / 2
        if is_down:
            await cluster.down()
            await self._while(0.1, 30)
        done = world.rewind(parent, backup)
        if is_down:
            await cluster.up()
        return done

    # What else may happen.

    async def clock_forward(self) -> bool:
        return await self._jump(DAY)

    async def clock_back(self) -> bool:
        return await self._jump(-DAY)

    async def _jump(self, seconds: float) -> bool:
        """Set the clock, and let somebody live to tell it.

        A jump while nobody records looks like an absence, or like none.
        """
        world = self._world
        before = world.recording()
        await asyncio.sleep(2)  # so that it has looked at the clock
        if before is None or world.recording() is not before:
            return False
        told = len(world.database.log.jumps())
        world.jump(seconds)
        for _ in range(600):
            if len(world.database.log.jumps()) > told:
                break
            await asyncio.sleep(0.1)
        return True

    async def token_rotated(self) -> bool:
        """The old one is refused, and the new one is there a little later."""
        self._cluster.token = f"token-{self._dice.random()}"
        if self._dice.random() < 1 / 2:
            self._cluster.cut()
        await self._while(0.01, 60)
        self._world.tell_token()
        return True

    async def crd_made_again(self) -> bool:
        cluster = self._cluster
        if WIDGETS.plural not in cluster.kinds:
            return False
        cluster.remove_crd(WIDGETS.plural)
        await self._while(0.01, 60)
        cluster.add_crd(WIDGETS)
        for _ in range(self._dice.randrange(3)):
            cluster.put(WIDGETS.plural, f"widgets-{self._dice.randrange(8)}")
        return True
