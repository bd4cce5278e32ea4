"""A log that a test writes, one batch after the other."""

from recorder.intake.deriving import Deriver
from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.model.observation import Observation
from recorder.store.writer import LogSpec, Writer
from tests.support.builders import NODES, a_frame, a_list, a_node

__all__ = ["LIVE", "WrittenLog", "changes"]

LIVE = LogSpec(
    cluster_name="prod",
    cluster_uid="11111111-prod",
    kubernetes="v1.36.3",
    redaction_key_id="key",
)


class WrittenLog:
    """Appends observations to a log, by default with their facts."""

    def __init__(
        self,
        dsn: str,
        spec: LogSpec = LIVE,
        *,
        holder: str = "writer",
        with_facts: bool = True,
    ) -> None:
        self._writer = Writer(dsn, spec, holder=holder)
        self._deriver = Deriver(self._writer) if with_facts else None

    async def lease(self) -> None:
        """Take the lease; nothing can be appended before."""
        self._ledger = Ledger(await self._writer.take_lease())
        self._sequencer = Sequencer(self._ledger, Relisting(self._ledger))

    async def begin(self, *nodes: str) -> None:
        """Take the lease, and list nodes."""
        await self.lease()
        await self.append(
            a_list(NODES, 1, *(a_node(name, 1) for name in nodes))
        )

    @property
    def log(self) -> int:
        """Which log it is."""
        return self._writer.log

    def take(self, observation: Observation) -> int:
        """Take an observation; return how many entries wait for a commit."""
        self._sequencer.take(observation)
        return self._ledger.entries

    async def append(self, *observations: Observation) -> tuple[int, int]:
        """Commit a batch; return the first position and the last."""
        for observation in observations:
            self.take(observation)
        batch = self._sequencer.seal()
        if self._deriver is not None:
            await self._deriver.derive(batch)
        await self._writer.append(batch)
        return batch.first_position, batch.first_position + len(batch) - 1

    async def end(self) -> None:
        """Give the lease back."""
        await self._writer.close()


def changes(node: str, first: int, count: int) -> list[Observation]:
    """Return updates of a node, each with one fact or more."""
    return [
        a_frame(
            NODES,
            "MODIFIED",
            a_node(node, version, ready=("False", "True")[version % 2]),
            when=version,
        )
        for version in range(first, first + count)
    ]
