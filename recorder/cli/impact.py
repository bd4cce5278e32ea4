"""`recorder impact`: which workloads a failure hit, and what it cost."""

from typing import TYPE_CHECKING

from recorder.cli.answering import Answered, answer_command
from recorder.cli.listing import (
    TEXTS,
    Item,
    Listing,
    list_options,
    print_listing,
)
from recorder.cli.output import print_lines

if TYPE_CHECKING:
    from recorder.answers.impact import Impact

__all__ = ["impact"]


@answer_command("impact", list_options())
def impact(found: "Answered[Impact]") -> None:
    r"""Show which workloads node failures affected, and the cost.

    Each workload is listed once, with all its Pods on any node. GPU-hours are
    a lower bound: work lost since the last checkpoint is not known.

    \b
    Example:
      recorder impact node/gpu-002
      recorder impact --rack r17 --since 24h
      recorder impact -l topology.kubernetes.io/zone=eu-1a --since 2h -o json
    """
    from msgspec.structs import replace

    from recorder.answers.impact import COLUMNS, cells, cost, failure_lines
    from recorder.answers.naming import named
    from recorder.answers.sentences import lasting

    answer = found.answer
    listing = Listing(
        columns=COLUMNS,
        items=[
            Item(
                named(hit.kind.lower(), hit.namespace, hit.name),
                cells(hit),
                hit,
            )
            for hit in answer.workloads
        ],
        whole=lambda workloads: replace(answer, workloads=workloads),
        nothing="no affected workloads recorded",
    )
    is_text = found.output in TEXTS
    if is_text:
        print_lines(failure_lines(answer.failures))
    print_listing(listing, found.given, now=found.now)
    if is_text and answer.workloads:
        print_lines(["", cost(answer.totals)])
        still = lasting(answer.workloads, answer.coverage.counted_until)
        print_lines([] if still is None else [still])
