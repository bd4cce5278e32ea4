"""A log that grows while it is asked: one batch after the other."""

from recorder.intake.deriving import Deriver
from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.model.observation import Observation
from recorder.store.writer import Writer
from tests.support.builders import NODES, a_frame, a_list, a_node
from tests.support.fixed_log import LIVE

__all__ = ["Telling", "changes"]


class Telling:
    """Appends observations and their facts to a log."""

    def __init__(self, dsn: str) -> None:
        self._writer = Writer(dsn, LIVE, holder="teller")

    async def begin(self, *nodes: str) -> None:
        ledger = Ledger(await self._writer.take_lease())
        self._sequencer = Sequencer(ledger, Relisting(ledger))
        self._deriver = Deriver(self._writer)
        listed = [a_node(name, 1) for name in nodes]
        await self.tell(a_list(NODES, 1, *listed))

    @property
    def log(self) -> int:
        """Which log it is."""
        return self._writer.log

    async def tell(self, *observations: Observation) -> tuple[int, int]:
        """Commit a batch; return the first position and the last."""
        for observation in observations:
            self._sequencer.take(observation)
        batch = self._sequencer.seal()
        await self._deriver.derive(batch)
        await self._writer.append(batch)
        return batch.first_position, batch.first_position + len(batch) - 1

    async def end(self) -> None:
        await self._writer.close()


def changes(node: str, first: int, count: int) -> list[Observation]:
    """Return updates of a node, each of which is one fact or more."""
    return [
        a_frame(
            NODES,
            "MODIFIED",
            a_node(node, version, ready=("False", "True")[version % 2]),
            when=version,
        )
        for version in range(first, first + count)
    ]
