"""The cost of redaction, relative to decoding.

``decode alone`` is ``orjson.loads`` of a document, the fastest way to all of
it. ``decode and redact`` is the same of the redacted document, including
redaction. The documents are a fleet's, as its API server serves them, and
redacted as the watch does; those of a tape are redacted more closely, and
shown for comparison. ``walk`` is redaction by the walk alone, which finds the
same secrets as the quick search: their ratio is the gain of the search.

Every document is another version of another object, because a loop over one
measures a warm cache; Pods of one Job share their environment, as in reality.
What counts is processor time, and of many short runs the best: disturbances
only make a run longer. The variants are run in turn, so that a slow phase of
the machine affects all, and only their ratio has a target.

``python -m bench.redact`` prints a table by kind of document.
"""

import time
from collections.abc import Callable, Sequence
from itertools import islice

import orjson

from bench.fleet import Fleet
from bench.measuring import Number
from bench.templates import EVENTS, JOBS, NODES, PODS
from recorder.intake.redact import Redaction, RedactionRules
from recorder.intake.redact.digest import KeyedDigest
from recorder.intake.redact.edits import splice
from recorder.intake.redact.rules import NameMatcher
from recorder.intake.redact.search import SecretSearch

__all__ = ["bench"]

DOCUMENTS = 500
NODES_OF_FLEET = 100
TURNS = 40
WALKED = 10
"""One document in so many is also walked, which takes long."""

KEY = b"0123456789abcdef"
MIX = {EVENTS: 60, PODS: 20, NODES: 10, JOBS: 10}
ROWS = {
    "Events": {EVENTS: 1},
    "Pods": {PODS: 1},
    "Nodes": {NODES: 1},
    "Jobs": {JOBS: 1},
    "mix": MIX,
}

Sample = tuple[bytes, str]


def bench(runs: int) -> list[Number]:
    measured = [measure(samples_of(MIX, f"run {n}")) for n in range(runs)]
    return [
        Number(
            name="decode and redact / decode alone, of the same mix",
            unit="",
            values=[served / alone for alone, served, *_ in measured],
            target="<= 1.5",
        ),
        Number(
            name="  the same of documents from a tape",
            unit="",
            values=[strange / alone for alone, _, strange, *_ in measured],
        ),
        Number(
            name="redact by the walk alone / with the quick search",
            unit="",
            values=[walked / quick for *_, quick, walked in measured],
        ),
    ]


def samples_of(mix: dict[str, int], seed: str) -> list[Sample]:
    fleet = Fleet(f"redact {seed}", nodes=NODES_OF_FLEET)
    changes = islice(fleet.changes(mix), DOCUMENTS)
    return [(change.document, change.resource) for change in changes]


def measure(samples: Sequence[Sample]) -> list[float]:
    """Microseconds a document.

    Decoded; redacted as served, or as taped, and decoded; redacted alone by
    the quick search, and by the walk.
    """
    rules = RedactionRules()
    redaction = Redaction(rules, KEY)
    search = SecretSearch(NameMatcher(rules.patterns), KeyedDigest(KEY))

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

    def quick(sample: Sample) -> object:
        return splice(sample[0], search.environments(sample[0]))

    def walked(sample: Sample) -> object:
        return splice(sample[0], search.guarded(sample[0], frozenset()))

    some = samples[::WALKED]
    ways = [(way, samples) for way in (decode, served, strange)]
    ways += [(way, some) for way in (quick, walked)]
    turns = [[_cost(*way) for way in ways] for _ in range(TURNS)]
    return [min(costs) for costs in zip(*turns, strict=True)]


def _cost(act: Callable[[Sample], object], samples: Sequence[Sample]) -> float:
    start = time.thread_time()
    for sample in samples:
        act(sample)
    return (time.thread_time() - start) * 1e6 / len(samples)


def main() -> None:
    print(
        f"{'':8}{'bytes':>8}{'decode':>12}"
        f"{'+ redact':>12}{'ratio':>7}{'(tape)':>12}{'ratio':>7}"
        f"{'walk/quick':>12}"
    )
    for name, mix in ROWS.items():
        samples = samples_of(mix, name)
        size = sum(len(raw) for raw, _ in samples) // len(samples)
        alone, served, strange, quick, walked = measure(samples)
        print(
            f"{name:8}{size:8}{alone:10.2f}us"
            f"{served:10.2f}us{served / alone:7.2f}"
            f"{strange:10.2f}us{strange / alone:7.2f}"
            f"{walked / quick:12.1f}"
        )


if __name__ == "__main__":
    main()
