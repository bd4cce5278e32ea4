"""What happens to the recorder: kills, freezes, takeovers, tokens, clocks."""

import asyncio

from recorder.embedded.passwords import SUPERUSER
from recorder.intake.endings import REFUSED
from tests.survival.database import ask
from tests.survival.fault import DAY, Fault, Strike
from tests.survival.recorder_command import PATIENCE
from tests.survival.recorder_process import Recorder
from tests.survival.site import UNREADABLE, Site

__all__ = ["RECORDER_FAULTS"]

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


async def killed(strike: Strike) -> None:
    """SIGKILL, some time in which things happen, and a new start."""
    site = strike.site
    victim = await _writer(site)
    victim.kill()
    await _meanwhile(strike)
    victim.start()


async def stopped(strike: Strike) -> None:
    """A clean stop, and a new start."""
    victim = await _writer(strike.site)
    status = await victim.stop()
    assert status == 0, f"stopped with {status}: {victim.last_words()}"
    await _meanwhile(strike)
    victim.start()


async def frozen_shortly(strike: Strike) -> None:
    """SIGSTOP for less than the lease lasts."""
    await _freeze(strike, strike.random.uniform(0.5, 3.0))


async def frozen_long(strike: Strike) -> None:
    """SIGSTOP for longer than the lease lasts, and nobody else there."""
    await _freeze(strike, strike.random.uniform(*LONGER_THAN_LEASE))


async def replaced_after_kill(strike: Strike) -> None:
    """The writer dies for good, and the standby takes over."""
    victim = await _writer(strike.site)
    term = (await strike.site.head()).term
    victim.kill()
    await _taken_over(strike, term)
    victim.start()


async def replaced_while_frozen(strike: Strike) -> None:
    """The writer freezes, the standby takes over, the writer thaws."""
    site = strike.site
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


async def token_rotated(strike: Strike) -> None:
    """The old token is refused at once, the new one is there in time."""
    await _replace_account(strike.site)
    await strike.site.new_token()


async def token_late(strike: Strike) -> None:
    """The new token comes when patience is over: told, and healed."""
    strike.reasons |= {REFUSED[401]}
    await _replace_account(strike.site)
    await asyncio.sleep(PATIENCE + strike.random.uniform(3.0, 4.0))
    await strike.site.new_token()


async def clock_ahead(strike: Strike) -> None:
    """The recorder's clock jumps by a day."""
    await _jump(strike, 1)


async def clock_back(strike: Strike) -> None:
    """The same, backwards."""
    await _jump(strike, -1)


async def database_clock_ahead(strike: Strike) -> None:
    """PostgreSQL's clock was a day ahead when it committed last."""
    site = strike.site
    await ask(site.database.dsn(SUPERUSER), AHEAD_RECORDED)
    await asyncio.sleep(strike.random.uniform(0.5, 2.0))


async def database_clock_back(strike: Strike) -> None:
    """The writer dies, and PostgreSQL's clock is set back by a day."""
    site = strike.site
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


async def _freeze(strike: Strike, seconds: float) -> None:
    victim = await _writer(strike.site)
    strike.dim = True
    strike.note(f"{seconds:.1f} s")
    victim.pause()
    try:
        await asyncio.sleep(seconds)
    finally:
        victim.resume()


async def _meanwhile(strike: Strike) -> None:
    seconds = strike.random.uniform(0.0, 2.0)
    strike.note(f"{seconds:.1f} s")
    await asyncio.sleep(seconds)


async def _taken_over(strike: Strike, term: int) -> None:
    took = await strike.site.until_term_after(term, seconds=30)
    strike.site.takeovers.append(took)
    strike.note(f"taken over in {took:.1f} s")
    assert took <= TAKEOVER_SECONDS, f"a standby took {took:.1f} s"


async def _replace_account(site: Site) -> None:
    """Make the service account anew: every token of it is void."""
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


async def _jump(strike: Strike, days: int) -> None:
    strike.dim = True
    clock = strike.site.clock
    await asyncio.sleep(strike.random.uniform(0.0, 1.0))
    clock.set_ahead(clock.offset + days * DAY)
    await asyncio.sleep(1.0)


ANY = frozenset({"recorder"})
BOTH = frozenset({"recorder", "database"})
CLOCK = frozenset({"clock", "recorder"})
TOKEN = frozenset({"token", "api", "etcd", "wire"})

RECORDER_FAULTS = (
    Fault(name="recorder killed", strike=killed, parts=ANY),
    Fault(name="recorder stopped", strike=stopped, parts=BOTH),
    Fault(name="recorder frozen", strike=frozen_shortly, parts=ANY),
    Fault(
        name="recorder frozen long",
        strike=frozen_long,
        parts=ANY,
        shared=False,
    ),
    Fault(
        name="standby after kill",
        strike=replaced_after_kill,
        parts=BOTH,
        shared=True,
    ),
    Fault(
        name="standby while frozen",
        strike=replaced_while_frozen,
        parts=BOTH,
        shared=True,
    ),
    Fault(name="token rotated", strike=token_rotated, parts=TOKEN),
    Fault(name="token late", strike=token_late, parts=TOKEN),
    Fault(name="clock a day ahead", strike=clock_ahead, parts=CLOCK),
    Fault(name="clock a day back", strike=clock_back, parts=CLOCK),
    Fault(
        name="database clock ahead",
        strike=database_clock_ahead,
        parts=BOTH,
        shared=True,
    ),
    Fault(
        name="database clock back",
        strike=database_clock_back,
        parts=BOTH,
        shared=True,
    ),
)
