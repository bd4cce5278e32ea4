"""What reading and writing a tape costs, in microseconds a frame.

Run as ``python -m bench.tape``. The documents are of the shape of a
real fleet's: Events, Pods, Nodes and Jobs, 60 to 20 to 10 to 10, with
managedFields, and every line another one. Each number is the median of
several runs; reading includes decompressing.
"""

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from recorder.model.observation import WatchFrame
from recorder.model.reference import Resource
from recorder.sources.tape import TapeHeader, TapeReader, TapeWriter

FRAMES = 20_000
RUNS = 5
BEGAN = datetime(2026, 11, 21, 3, 18, tzinfo=UTC)
HEADER = TapeHeader(
    cluster="bench", cluster_uid="-", kubernetes="-", started_at=BEGAN
)
MIXED = (
    (Resource("", "v1", "events"), 1_200),
    (Resource("", "v1", "pods"), 5_000),
    (Resource("", "v1", "nodes"), 12_000),
    (Resource("batch", "v1", "jobs"), 3_000),
)
SHARES = (60, 20, 10, 10)


def a_document(chance: random.Random, number: int, size: int) -> bytes:
    """A document of about that size, as an API server writes it."""
    fields: dict[str, object] = {
        f"f:field-{chance.randrange(4000)}": {} for _ in range(size // 34)
    }
    return json.dumps(
        {
            "metadata": {
                "name": f"name-{chance.randrange(5000)}",
                "namespace": "train",
                "uid": f"{chance.getrandbits(128):032x}",
                "resourceVersion": str(10_000 + number),
                "managedFields": [{"manager": "kubelet", "fieldsV1": fields}],
            },
            "status": {
                "images": [
                    f"registry.example/{chance.getrandbits(256):064x}"
                    for _ in range(size // 200)
                ]
            },
        },
        separators=(",", ":"),
    ).encode()


def frames() -> Iterator[WatchFrame]:
    chance = random.Random(1)
    drawn = chance.choices(MIXED, SHARES, k=FRAMES)
    for number, (resource, size) in enumerate(drawn):
        yield WatchFrame(
            observed_at=BEGAN + timedelta(milliseconds=number),
            resource=resource,
            type="MODIFIED",
            object=a_document(chance, number, size),
        )


def cost(deed: Callable[[], None]) -> float:
    """Median microseconds a frame."""
    taken = []
    for _ in range(RUNS):
        began = time.perf_counter()
        deed()
        taken.append(time.perf_counter() - began)
    return median(taken) / FRAMES * 1e6


def main() -> None:
    observations = list(frames())
    mean = sum(len(frame.object) for frame in observations) / FRAMES
    print(f"{FRAMES} frames of {mean:.0f} bytes on average")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.tape.jsonl.zst", "a.tape.jsonl"):
            path = Path(folder) / name

            def write(path: Path = path) -> None:
                with TapeWriter(path, HEADER, overwrite=True) as tape:
                    for start in range(0, FRAMES, 200):
                        tape.write(observations[start : start + 200])

            def read(path: Path = path) -> None:
                with TapeReader(path) as tape:
                    for _ in tape.frames():
                        pass

            print(
                f"{name:18} write {cost(write):5.1f} us, "
                f"read {cost(read):5.1f} us a frame, "
                f"{path.stat().st_size / FRAMES:5.0f} bytes in the file"
            )


if __name__ == "__main__":
    main()
