"""Paths on the page, relative to its base URL."""

from urllib.parse import quote, urlencode

from recorder.answers.kinds import find_kinds
from recorder.answers.naming import Reference, node_name
from recorder.facts.projections.workloads import GANGS, SERVERS

WORK = frozenset(("", kind) for kind in GANGS | SERVERS)


def view(
    node: str | None,
    *,
    cluster: str | None = None,
    log: str | None = None,
    verdict: str | None = None,
) -> str:
    """Return the path of the view of a node, or of the fleet without one.

    Raises:
        ConfigError: the name is not that of a node.
    """
    named = {"cluster": cluster, "log": log, "verdict": verdict}
    query = urlencode({k: v for k, v in named.items() if v}, safe="/")
    path = f"node/{quote(node_name(node), safe='')}" if node else ""
    return f"{path}?{query}" if query else path


def view_of_object(
    reference: Reference,
    *,
    cluster: str | None = None,
    log: str | None = None,
) -> str:
    """Return the path of the view of an object or workload, as written."""
    word = reference.word.partition(".")[0]
    kinds = find_kinds(word, custom=(), filed=WORK)
    is_work = reference.namespace and any(("", k.kind) in WORK for k in kinds)
    parts = (
        "workload" if is_work else "object",
        reference.word,
        reference.namespace or "",
        reference.name,
    )
    path = "/".join(quote(part, safe="") for part in parts if part)
    query = urlencode(
        {k: v for k, v in (("cluster", cluster), ("log", log)) if v}
    )
    return f"{path}?{query}" if query else path
