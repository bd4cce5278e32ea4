"""Choosing the log of a question by number, cluster or context."""

from collections.abc import Callable, Sequence

from recorder.answers.naming import did_you_mean
from recorder.answers.text.lines import Columns
from recorder.facts.coverage.ports import Log
from recorder.model.errors import ConfigError, NotFoundError
from recorder.model.reads import is_of_reads

TABLE_MAX = 20
"""Logs, the newest ones; `recorder clusters` has all."""

BY_ID = "choose one with --log ID"


class AmbiguousLogError(ConfigError):
    """Several logs match."""

    code = "question.log"

    def __init__(
        self, message: str, logs: Sequence[Log], *, advice: str
    ) -> None:
        """Set the message; the logs that match are listed or a table."""
        super().__init__(message, advice=advice)
        self._logs = logs

    @property
    def listed(self) -> str:
        """The logs on one line."""
        return _listed(self._logs)

    @property
    def table(self) -> str:
        """The newest logs, a line for each."""
        return _table(self._logs)


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
            nothing else decides. Without a log of its cluster, the only live
            log is meant.

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
    if len(live) == 1:
        return live[0]
    msg = "several logs match, and no cluster or log is named"
    apart = len({log.cluster_name for log in logs}) > 1
    advice = "name one with --cluster NAME or --log ID" if apart else BY_ID
    raise AmbiguousLogError(msg, logs, advice=advice)


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
        msg = f'there are several logs for cluster "{cluster}"'
        raise AmbiguousLogError(msg, found, advice=BY_ID)
    return found[0]


def _table(logs: Sequence[Log]) -> str:
    """Return the newest logs as a short table."""
    rows = [
        (
            str(log.id),
            log.cluster_name or "",
            log.kind,
            "" if log.observed_at is None else f"{log.observed_at:%F %H:%M}",
        )
        for log in logs[-TABLE_MAX:]
    ]
    columns = Columns(("LOG", "CLUSTER", "KIND", "LAST"))
    return "\n".join([columns.header(rows), *columns.lines(rows)])


def _there_are(logs: Sequence[Log]) -> str:
    return f"; there are {_listed(logs)}"


def _listed(logs: Sequence[Log]) -> str:
    return ", ".join(
        f'{log.id} ({log.kind} "{log.cluster_name}")' for log in logs
    )
