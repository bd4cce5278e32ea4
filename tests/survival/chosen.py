"""Four schedules that together hold every kind of fault.

Each is seeded as every other; only what strikes, and what with it, is
written down, so that whoever plays all of them misses none.
"""

from tests.survival.schedule import Schedule, Step, fault

__all__ = ["CHOSEN"]


def _step(*names: str) -> Step:
    return tuple(fault(name) for name in names)


CHOSEN = (
    Schedule(
        1,
        shared=False,
        steps=(
            _step("recorder killed", "API server frozen long"),
            _step("PostgreSQL killed twice", "wire cut"),
            _step("disk full", "etcd frozen"),
            _step("compacted"),
            _step("clock a day ahead", "API server upgraded"),
        ),
    ),
    Schedule(
        2,
        shared=True,
        steps=(
            _step("standby while frozen", "etcd killed"),
            _step("database wire hung", "wire slow"),
            _step("database clock back"),
            _step("token late"),
            _step("database wire cut", "API server frozen"),
        ),
    ),
    Schedule(
        3,
        shared=False,
        steps=(
            _step("PostgreSQL frozen long", "wire hung"),
            _step("recorder frozen long", "API server killed"),
            _step("clock a day back", "PostgreSQL killed"),
            _step("restored"),
        ),
    ),
    Schedule(
        4,
        shared=True,
        steps=(
            _step("standby after kill"),
            _step("PostgreSQL frozen", "recorder frozen"),
            _step("kind made again"),
            _step("database clock ahead", "token rotated"),
            _step("recorder stopped", "API server killed"),
            _step("database wire slow"),
        ),
    ),
)
