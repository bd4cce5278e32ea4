"""Training: the dictionaries that the recorder compresses payloads with.

``python -m bench.train`` trains one for each kind on fleets that no benchmark
uses, several of them so that the choices of one site are not learned, and
writes them where the store loads them from. With ``--compare`` it writes
nothing and prints, for dictionaries of several sizes, the cost of a document
of the fleet that the benchmarks do use, in bytes and in microseconds.

A new dictionary is another one, not another version: the database keeps every
one that a payload names.
"""

import argparse
import asyncio
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from bench.answers_log import STATES_MAX, Nothing, batches
from bench.fleet import Change, Fleet
from bench.records import harvested, varied
from bench.tapes import MIXES, frame
from bench.templates import EVENTS, JOBS, NODES, PODS, load
from recorder.intake.deriving import Deriver
from recorder.model.zstd import ZstdCompressor, ZstdDict, train_dict
from recorder.store.details import COMPRESSED_FROM
from recorder.store.encoding import LEVEL, LEVELS

FOLDER = Path("recorder/store/dictionaries")
TRAINING = tuple(f"training {number}" for number in range(8))
MEASURED = "measured"
"""Seeds of fleets."""

KIB = 1 << 10
SIZES = {
    "event": 32 * KIB,
    "pod": 64 * KIB,
    "node": 64 * KIB,
    "object": 64 * KIB,
    "fact": 16 * KIB,
    "audit": 64 * KIB,
}
"""By ``--compare``: larger ones make payloads at most 3 % smaller."""
COMPARED = (16 * KIB, 32 * KIB, 64 * KIB, 96 * KIB, 112 * KIB)
SAMPLES = {
    "event": 16_000,
    "pod": 3_000,
    "node": 1_500,
    "object": 3_000,
    "fact": 32_000,
    "audit": 10_000,
}


def events(fleet: Fleet) -> Iterator[bytes]:
    while True:
        yield fleet.event().document


def pods(fleet: Fleet) -> Iterator[bytes]:
    while True:
        yield fleet.pod().document


def nodes(fleet: Fleet) -> Iterator[bytes]:
    while True:
        yield fleet.node().document


def objects(fleet: Fleet) -> Iterator[bytes]:
    """Everything else, and half of it Jobs."""
    others = sorted(
        {story.resource for story in load().every()}
        - {EVENTS, PODS, NODES, JOBS}
    )
    chance = random.Random(0)
    while True:
        yield fleet.job().document
        for change in fleet.life(chance.choice(others)):
            yield change.document


def facts(fleet: Fleet) -> Iterator[bytes]:
    """The details of the facts that the recorder derives of a mixed fleet."""
    changes = islice(fleet.changes(MIXES["mixed"]), SAMPLES["fact"])
    return iter(asyncio.run(_derived(changes)))


async def _derived(changes: Iterable[Change]) -> list[bytes]:
    deriver, found = Deriver(Nothing(), states_max=STATES_MAX), []
    for batch in batches(map(frame, changes)):
        await deriver.derive(batch)
        for _, derived in batch.facts or ():
            found += [fact.detail for fact in derived]
    return [detail for detail in found if len(detail) >= COMPRESSED_FROM]


def audits(fleet: Fleet) -> Iterator[bytes]:
    """Records of a real cluster, as that of the fleet would have made them."""
    records = harvested()
    turn = 0
    while True:
        yield from varied(records, f"{fleet._revision} {turn}")
        turn += 1


KINDS: dict[str, Callable[[Fleet], Iterator[bytes]]] = {
    "event": events,
    "pod": pods,
    "node": nodes,
    "object": objects,
    "fact": facts,
    "audit": audits,
}


def samples(kind: str, seed: str, count: int) -> list[bytes]:
    """Draw documents from the middle of a fleet's life."""
    stream = KINDS[kind](Fleet(seed, nodes=100))
    return list(islice(stream, count, 2 * count))


def training_samples(kind: str) -> list[bytes]:
    count = SAMPLES[kind] // len(TRAINING)
    return [
        document
        for seed in TRAINING
        for document in samples(kind, seed, count)
    ]


def trained(documents: Sequence[bytes], size: int) -> bytes:
    return train_dict(documents, size).dict_content


def cost(
    documents: Sequence[bytes], dictionary: bytes, level: int
) -> tuple[float, float]:
    """Bytes and microseconds of a document."""
    compressor = ZstdCompressor(
        level=level, zstd_dict=ZstdDict(dictionary).as_digested_dict
    )
    best = float("inf")
    size = 0
    for _ in range(3):
        began = time.perf_counter()
        size = sum(
            len(compressor.compress(document, ZstdCompressor.FLUSH_FRAME))
            for document in documents
        )
        best = min(best, time.perf_counter() - began)
    return size / len(documents), best / len(documents) * 1e6


def compare() -> None:
    print(f"{'':8}{'KiB':>5}{'bytes':>8}{'payload':>9}{'us':>7}")
    for kind, count in SAMPLES.items():
        training = training_samples(kind)
        measured = samples(kind, MEASURED, count // 4)
        mean = sum(map(len, measured)) // len(measured)
        for size in COMPARED:
            payload, spent = cost(
                measured, trained(training, size), LEVELS.get(kind, LEVEL)
            )
            print(
                f"{kind:8}{size // KIB:5}{mean:8}{payload:9.0f}{spent:7.1f}",
                flush=True,
            )


def write(kinds: Sequence[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for kind in kinds:
        dictionary = trained(training_samples(kind), SIZES[kind])
        (FOLDER / f"{kind}.zdict").write_bytes(dictionary)
        print(f"{kind}: {len(dictionary)} bytes", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.train")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--only", choices=SIZES, help="one kind of them")
    arguments = parser.parse_args()
    if arguments.compare:
        compare()
    else:
        write([arguments.only] if arguments.only else [*SIZES])


if __name__ == "__main__":
    main()
