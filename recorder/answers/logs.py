"""Choosing the log of a question by number, cluster or context."""

from collections.abc import Callable, Sequence

from recorder.answers.naming import did_you_mean
from recorder.facts.coverage.ports import Log
from recorder.model.errors import ConfigError, NotFoundError
from recorder.model.reads import is_of_reads

__all__ = ["AmbiguousLogError", "choose_log"]


class AmbiguousLogError(ConfigError):
    """Several logs match."""

    code = "question.log"


def choose_log(
    logs: Sequence[Log],
    *,
    number: int | None,
    cluster: str | None,
    context: Callable[[], str | None],
) -> Log:
    """Return the log with a number, of a cluster, or the only match.

    Args:
        logs: all logs, at least one.
        number: the number of the log.
        cluster: name or UID; live logs win over tapes.
        context: returns the name of the current context; called only if
            nothing else decides.

    Raises:
        NotFoundError: there is no such log.
        AmbiguousLogError: several logs match.
    """
    if number is not None:
        for log in logs:
            if log.id == number:
                return log
        msg = f"there is no log {number}; there are {_listed(logs)}"
        raise NotFoundError(msg)
    if cluster is not None:
        return _of_cluster(logs, cluster)
    logs = [log for log in logs if not is_of_reads(log.cluster_uid)] or logs
    if len(logs) == 1:
        return logs[0]
    name = context()
    live = [log for log in logs if not log.is_tape]
    current = [log for log in live if log.cluster_name == name]
    if len(current) == 1:
        return current[0]
    msg = (
        "several logs match, and no cluster or log is"
        f" named: there are {_listed(logs)}"
    )
    advice = "name one with --cluster NAME or --log ID"
    raise AmbiguousLogError(msg, advice=advice)


def _of_cluster(logs: Sequence[Log], cluster: str) -> Log:
    named = [
        log for log in logs if cluster in {log.cluster_name, log.cluster_uid}
    ]
    found = [log for log in named if not log.is_tape] or named
    if not found:
        names = sorted({log.cluster_name for log in logs})
        hint = did_you_mean(cluster, names)
        msg = f'no log for cluster "{cluster}"{hint or _there_are(logs)}'
        raise NotFoundError(msg)
    if len(found) > 1:
        msg = (
            f'there are several logs for cluster "{cluster}":'
            f" there are {_listed(found)}"
        )
        raise AmbiguousLogError(msg, advice="choose one with --log ID")
    return found[0]


def _there_are(logs: Sequence[Log]) -> str:
    return f"; there are {_listed(logs)}"


def _listed(logs: Sequence[Log]) -> str:
    return ", ".join(
        f'{log.id} ({log.kind} "{log.cluster_name}")' for log in logs
    )
