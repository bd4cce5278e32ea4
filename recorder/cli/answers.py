"""Commands that print the answer to a question as the registry says.

A command is its entry in the registry and its text.
"""

from typing import Any

import click

from recorder.cli.answering import answer, answer_command, read_command
from recorder.cli.asking import wait_for
from recorder.cli.lazy import LazyGroup
from recorder.cli.watching import watch_incidents, watch_option


class GetGroup(LazyGroup):
    """Takes the name of a kind as its command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of nodes, or else that of any kind."""
        from recorder.answers.naming import NODE_WORDS

        word = args[0]
        if word.lower() in NODE_WORDS:
            return super().resolve_command(ctx, ["nodes", *args[1:]])
        if word in {"place", "places"}:
            return super().resolve_command(ctx, ["places", *args[1:]])
        if word == "KIND" or word.startswith("-"):
            return super().resolve_command(ctx, args)
        return word, self.get_command(ctx, "KIND"), args


@click.group(
    cls=GetGroup,
    places={
        "nodes": "recorder.cli.answers:nodes",
        "places": "recorder.cli.answers:places",
        "KIND": "recorder.cli.answers:objects",
    },
)
def get() -> None:
    """List objects as they were at a time."""


objects = answer_command(
    "objects",
    r"""List the objects of a kind as they were at a time.

    KIND is written as for kubectl: pods, job, deploy, jobs.batch.volcano.sh;
    a bare kind means those of all groups. Objects that are gone are listed if
    they existed then; ages are as of that time. If the log does not vouch for
    the time, a note on stderr says so and the exit status is 4.

    \b
    Example:
      recorder get pods --at 2026-11-21T03:14:00Z
      recorder get jobs -n train --at 2h -o wide
      recorder get jobset llm-7 -o json
    """,
)


nodes = answer_command(
    "nodes",
    r"""List the nodes as they were at a time, also those that are gone.

    The columns are those of kubectl, with taints, GPUs and racks; ages are as
    of that time. If the log does not vouch for the time, a note on stderr says
    so and the exit status is 4.

    \b
    Example:
      recorder get nodes --at 2026-11-21T03:14:00Z
      recorder get nodes --at 2h --rack r17 -o wide
      recorder get nodes -o json | jq '.nodes[] | select(.ready != "True")'
    """,
)

places = answer_command(
    "places",
    r"""List the places that nodes were behind at a time.

    A place is a rack, a switch, a PDU, a leaf group or another domain that the
    labels of Nodes name. If several labels place a node differently, a note
    on stderr says so.

    \b
    Example:
      recorder get places --at 2h
      recorder get places switch/leaf-7 -o json
    """,
)

show = answer_command(
    "object",
    r"""Show an object as it was at a time, even if it is gone.

    OBJECT is written as for kubectl: node/gpu-002, pod/train/llm-0, or
    pod/llm-0 with -n train; short names work. The log entry it comes from is
    printed on stderr.

    \b
    Example:
      recorder show node/gpu-002 --at 2026-11-21T03:12:00Z
      recorder show -n train pod/llm-0 --at 2h -o json
    """,
)

diff = answer_command(
    "diff",
    r"""Show what changed in an object between two times.

    The object is read at each time as `recorder show --at` reads it. Writers
    in between are named as in `recorder history`, which shows each
    intermediate version.

    \b
    Example:
      recorder diff node/gpu-002 --from 2h --to 1h
      recorder diff pod/train/llm-0 --from 1/29 --to 1/66 -o json
    """,
)

who = answer_command(
    "who",
    r"""Show who changed each field of an object last.

    KNOWN BY says how the author is known: audit is the audit record of the
    request, which names the user, the client and whom the user impersonated,
    and ENTRY is that record; managed-fields is the object's own record, which
    names a program. A part of the object that was not changed since it began
    is one row.

    \b
    Example:
      recorder who node/gpu-002
      recorder who node/gpu-002 --field spec.unschedulable
      recorder who pod/train/llm-0 --at 2h -o json
    """,
)


@read_command("incidents", watch_option)
def incidents(ctx: click.Context, *, watch: bool, **given: Any) -> int:
    r"""List incidents on all nodes, oldest first.

    An incident that affected several nodes at once, such as a rack or the
    whole cluster, is one line.

    \b
    Example:
      recorder incidents --since 24h
      recorder incidents --watch
      recorder incidents --cause gpu-fault --cause hung-kernel -o wide
      recorder incidents -A --since 7d --sort-by -gpu-hours
      recorder incidents --since 7d -o json
    """
    if watch:
        wait_for(watch_incidents(ctx, given))
    return wait_for(answer(ctx, given))


jobs = answer_command(
    "jobs",
    r"""List workloads: their states, last ends, and the cost.

    A workload is named by the top of its owner chain. With a window, those
    that had Pods in it, and what ended them in it; --ended-by any lists those
    that did not only complete. GPU-hours are a lower bound: work lost since
    the last checkpoint is not known. Of more than 500 workloads those shown
    are judged; sums over all of them are left out, except with --limit all.

    \b
    Example:
      recorder jobs --since 12h --ended-by any
      recorder jobs --state running -n train
      recorder jobs --node gpu-002 --since 7d -o wide
      recorder jobs -A --since 24h --sort-by -gpu-hours
      recorder jobs --since 7d --top gpu-hours-lost --limit 10
    """,
)

impact = answer_command(
    "impact",
    r"""Show which workloads node failures affected, and the cost.

    Each workload is listed once, with all its Pods on any node. GPU-hours are
    a lower bound: work lost since the last checkpoint is not known.

    \b
    Example:
      recorder impact node/gpu-002
      recorder impact --rack r17 --since 24h
      recorder impact -l topology.kubernetes.io/zone=eu-1a --since 2h -o json
    """,
)

search = answer_command(
    "search",
    r"""Find nodes, workloads and objects by a part of a name.

    Names that begin with the text are first; objects that were deleted are
    found too. KIND/NAME restricts the search to one kind. LOG/POSITION finds
    an entry. Each is listed as other commands take it.

    \b
    Example:
      recorder search llm-70b
      recorder search job/llm -A
      recorder search gpu-00 -o name
    """,
)

stats = answer_command(
    "stats",
    r"""Count incidents, reboots, time away and GPU-hours lost.

    A loss is counted where it is attributed, so that the groups add up to the
    whole. An incident that affected several nodes or namespaces is counted in
    each of their groups. How much of the window is vouched for is printed on
    stderr with the totals.

    By workload, or by its user, priority or queue, shows how reliably
    workloads ran: interruptions, node-days and GPU-days between them, how
    long until they ran again, and the share of the wanted time in which all
    Pods ran.

    \b
    Example:
      recorder stats --since 7d
      recorder stats --by workload --since 30d
      recorder stats --by node --since 30d --sort-by -reboots
      recorder stats --by day -A -o csv
    """,
)

gaps = answer_command(
    "coverage",
    r"""List the time spans in which the log may be incomplete.

    A gap begins at the last proof that nothing was missed and ends with the
    first complete list after it. PROVED is what that list showed. A gap is
    healed if its watch could be resumed after all: nothing is missing.

    The exit status is 4 if anything in the window may be missing, so a script
    can check whether last night was recorded completely.

    \b
    Example:
      recorder gaps --since 12h
      recorder gaps --since 2026-11-21T03:00:00Z --until 2026-11-21T04:00:00Z
    """,
)

coverage = answer_command(
    "audit_coverage",
    r"""Count the versions of objects that an audit record made.

    A version without an author shows what the audit policy leaves out, or
    that records were lost. The whole window is read: give one.

    \b
    Example:
      recorder audit coverage --since 1h
    """,
)


why = answer_command(
    "why_named",
    r"""Explain what happened to a node, a workload or a Pod.

    A bare name is that of a node, or else of a workload or a Pod of any kind
    and namespace; several are listed to choose from.

    Of a node, without a time, explains the most recent incident, in at most
    seven steps: what happened, why, and who decided it. Each names its entry,
    and how many more record it; show one with `recorder log ENTRY --raw`, all
    with -v.

    Of a workload or a Pod, explains what ended it: the node, a drain, a
    preemption, its own container, a deletion; or says that it runs.
    What happened to the node is shown with it. What was not recorded is
    reported as missing, never guessed.

    \b
    Example:
      recorder why node/gpu-002
      recorder why node/gpu-002 --since 24h -o json
      recorder why llm-7
      recorder why job/train/llm-7
      recorder why -n train pod/llm-7-0-x2x8k --at 2026-11-21T03:14:00Z
    """,
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Show the records of each step one by one, and of a workload"
        " every ending in full.",
    ),
)
