"""What redaction costs beside decoding.

Run as ``python -m tests.bench.redact``. It prints, for documents of a GPU
fleet and for a mix of 60 Events, 30 Pods and 10 Nodes, the time that
``orjson.loads`` takes alone, and the time of decoding and redacting: for
documents straight from an API server, as the watch redacts them, and for
documents from anywhere, as tapes are. It ends with status 1 if the first
ratio of the mix is above its limit.

Documents differ from each other in their names, uids and digests, because a
loop over one document measures a warm cache. Ten Pods in a row belong to one
Job and share their environment, whose secrets are its own: fewer than in
life, where every version of each of them brings it again.

What counts is processor time, and of many short runs the best: what disturbs
a run only makes it longer. The ways are taken in turn, so that a slow spell
of the machine meets all.
"""

import random
import re
import sys
import time
from collections.abc import Callable, Sequence

import orjson

from recorder.redact import Redaction, RedactionRules
from tests.classify import documents

RATIO_MAX = 1.5
DOCUMENTS = 500
RUNS = 40
PODS_OF_A_JOB = 10
MIX = ("event",) * 6 + ("pod",) * 3 + ("node",)
RESOURCES = {
    "event": "v1/events",
    "pod": "v1/pods",
    "node": "v1/nodes",
    "job": "batch/v1/jobs",
    "secret": "v1/secrets",
}
UID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)

Sample = tuple[bytes, str]


def varied(name: str, number: int) -> Sample:
    """One document like the builder's, with values of its own."""
    chance = random.Random(f"{name} {number}")
    job = random.Random(f"{name} {number // PODS_OF_A_JOB}")
    text = documents.compact(getattr(documents, name)()).decode()
    for uid in set(UID.findall(text)):
        text = text.replace(uid, other_letters(uid, chance))
    for word in ("gpu-002", "7xk2p"):
        text = text.replace(word, other_letters(word, chance))
    for secret in ("4f1c0f5e9d3b2a7788aa00b1c2d3e4f5", "QxTzVbNmKlPoIuYt"):
        text = text.replace(secret, other_letters(secret, job))
    return text.encode(), RESOURCES[name]


def other_letters(text: str, chance: random.Random) -> str:
    return re.sub(
        r"[0-9A-Za-z]", lambda _: chance.choice("0123456789ab"), text
    )


def samples_of(row: str) -> list[Sample]:
    names = MIX if row == "mix" else (row,)
    return [varied(names[i % len(names)], i) for i in range(DOCUMENTS)]


def microseconds(
    act: Callable[[Sample], object], samples: Sequence[Sample]
) -> float:
    start = time.thread_time()
    for sample in samples:
        act(sample)
    return (time.thread_time() - start) * 1e6 / len(samples)


def measure(samples: Sequence[Sample]) -> list[float]:
    """Time of a document: decoded, and redacted as served, or as is."""
    redaction = Redaction(RedactionRules(), b"0123456789abcdef")

    def decode(sample: Sample) -> object:
        return orjson.loads(sample[0])

    def served(sample: Sample) -> object:
        raw, resource = sample
        return orjson.loads(
            redaction.document(raw, resource=resource, served=True)
        )

    def strange(sample: Sample) -> object:
        raw, resource = sample
        return orjson.loads(redaction.document(raw, resource=resource))

    ways = (decode, served, strange)
    runs = [[microseconds(way, samples) for way in ways] for _ in range(RUNS)]
    return [min(times) for times in zip(*runs, strict=True)]


def main() -> int:
    print(
        f"{'':8}{'bytes':>8}{'decode':>12}"
        f"{'+ redact':>12}{'ratio':>7}{'(anywhere)':>12}{'ratio':>7}"
    )
    ratio = 0.0
    for row in (*RESOURCES, "mix"):
        samples = samples_of(row)
        size = sum(len(raw) for raw, _ in samples) // len(samples)
        alone, served, strange = measure(samples)
        ratio = served / alone
        print(
            f"{row:8}{size:8}{alone:10.2f}us"
            f"{served:10.2f}us{ratio:7.2f}"
            f"{strange:10.2f}us{strange / alone:7.2f}"
        )
    print(f"decode and redact / decode alone: {ratio:.2f} (<= {RATIO_MAX})")
    return ratio > RATIO_MAX


if __name__ == "__main__":
    sys.exit(main())
