"""What goes wrong between a recorder and its cluster, one method each."""

import asyncio

from tests.faults.world import PLURALS, WIDGETS, World
from tests.support.fake_cluster import Failure

__all__ = ["ClusterFaults"]

HTTP_NOT_FOUND = 404
GARBAGE = (
    b'{"type":"WHAT","object":{}}\n',
    b'{"type":"ADDED","object":\n',
    b"upstream connect error\n",
)


class ClusterFaults:
    """Breaks the API server, etcd and the network of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._cluster = world.cluster
        self._dice = world.dice

    async def _while(self, least: float = 0.01, most: float = 60.0) -> None:
        """Let some time pass, more often a little than a lot."""
        share = self._dice.random()
        await asyncio.sleep(least * (most / least) ** share)

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

    # What operators do.

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
