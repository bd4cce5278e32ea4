"""A sender of claims that knows no faults but its own patience.

It posts one claim after the other to whichever recorder is there, each until
it is accepted, and sometimes one again that was. What was accepted must be in
the log once.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from starlette.routing import Router
from starlette.types import Message

from recorder.keeping.tokens import Token
from recorder.model.entry import Draft, Operation
from recorder.sources.claims import CLAIMS_PATH, ClaimDoor

__all__ = ["Sender", "rights"]

ACCEPTED = 202
AGAIN = {429, 503}
PAUSES = (0.01, 1.0, 20.0)
REPEATED = 1 / 5
MEDIA = b"application/cloudevents+json"


def rights(_: str) -> Token:
    """Return what every sender of the world may claim."""
    return Token("pdu", "", "", "pdu/*", "machine.*")


async def _post(door: ClaimDoor, event: dict[str, Any]) -> int:
    """Post an event without a socket; return the status."""
    statuses: list[int] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": orjson.dumps(event)}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "method": "POST",
        "path": CLAIMS_PATH,
        "query_string": b"",
        "headers": [
            (b"authorization", b"Bearer rec_a"),
            (b"content-type", MEDIA),
        ],
    }
    await Router(door.routes())(scope, receive, send)
    return statuses[0]


class Sender:
    """Posts claims, and remembers which were accepted."""

    def __init__(
        self, doors: Callable[[], Sequence[ClaimDoor]], dice: random.Random
    ) -> None:
        self._doors = doors
        self._dice = dice
        self._accepted: list[int] = []
        self._posted = 0
        self._statuses: Counter[int] = Counter()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._dice.choice(PAUSES))
            number = self._posted + 1
            if self._accepted and self._dice.random() < REPEATED:
                number = self._dice.choice(self._accepted)
            self._posted = max(self._posted, number)
            while not await self._is_accepted(number):  # noqa: ASYNC110 - as senders do
                await asyncio.sleep(1)
            self._accepted.append(number)

    async def _is_accepted(self, number: int) -> bool:
        doors = self._doors()
        if not doors:
            return False
        event = {
            "specversion": "1.0",
            "id": str(number),
            "source": "pdu/b3",
            "type": "machine.power",
        }
        status = await _post(self._dice.choice(doors), event)
        self._statuses[status] += 1
        return status == ACCEPTED

    def judge(self, drafts: Sequence[Draft]) -> list[str]:
        """Return what is wrong with the claims of a log."""
        entered = Counter(
            int(orjson.loads(draft.raw)["id"])
            for draft in drafts
            if draft.operation is Operation.CLOUDEVENT
        )
        known = set(self._accepted)
        wrong = [
            f"claim {number} is there {count} times"
            for number, count in entered.items()
            if count > 1 or not 0 < number <= self._posted
        ]
        wrong += [
            f"claim {number} was accepted and lost"
            for number in sorted(known - entered.keys())
        ]
        wrong += [
            f"{count} claims were answered with {status}"
            for status, count in self._statuses.items()
            if status not in AGAIN | {ACCEPTED}
        ]
        return wrong if known else [*wrong, "no claim was accepted"]
