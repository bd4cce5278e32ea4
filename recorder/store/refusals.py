"""What PostgreSQL refuses of a question, with a remedy where there is one."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from recorder.errors import ConfigError, LogError, LogUnavailableError
from recorder.store.translate import REFUSALS, translate_errors

__all__ = ["QuestionTooLargeError", "TextError", "told_refusals"]

CANCELED = "57014"
"""SQLSTATE of a statement that ran into its timeout."""

NO_CHARACTER = "22021"
"""SQLSTATE of a text with a NUL."""


class TextError(ConfigError):
    """The query holds characters that no name in a log can have."""

    code = "question.text"


class QuestionTooLargeError(LogError):
    """A question took longer than a statement may."""

    code = "log.question_too_large"


@contextmanager
def told_refusals(action: str) -> Iterator[None]:
    """Translate a database error into ours, with a remedy."""
    with translate_errors(action):
        try:
            yield
        except PoolTimeoutError as exc:
            msg = f"cannot {action}: all connections are busy; try again"
            raise LogUnavailableError(msg) from exc
        except REFUSALS as exc:
            error = getattr(exc, "orig", None) or exc
            state = getattr(error, "sqlstate", None)
            if state == NO_CHARACTER or _is_unwritable(exc):
                msg = (
                    "the query contains a NUL or an unpaired surrogate, which"
                    " no text in a log contains"
                )
                raise TextError(msg) from exc
            if state != CANCELED:
                raise
            msg = (
                f"cannot {action}: the statement took too long; ask for"
                " a shorter time, or for one node or object"
            )
            raise QuestionTooLargeError(msg) from exc


def _is_unwritable(error: BaseException | None) -> bool:
    """Return whether a text cannot be sent, as of half a character."""
    while error is not None and not isinstance(error, UnicodeEncodeError):
        error = error.__cause__
    return error is not None
