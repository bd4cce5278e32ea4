"""What goes wrong, one method each, and what mends it again.

A fault lasts for a while of its own, drawn from a seed; the cluster goes on
meanwhile. What is broken when a method returns stays broken on purpose: the
next fault finds it so, and `Faults.mend` ends everything.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from tests.faults.cluster_faults import ClusterFaults
from tests.faults.world import World

__all__ = ["Faults"]

DAY = 86_400.0


class Faults(ClusterFaults):
    """Breaks a world, and counts how."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._database = world.database
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
        """Let one thing go wrong; return its name."""
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

    # The machine.

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
