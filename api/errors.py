"""Errors as clients see them: a code, a message, and nothing of ours inside.

An error that the project knows by name is told as it is, with its code. What
nobody foresaw is told as a number, under which the server's log has the rest.
"""

import logging
import secrets
from typing import ClassVar

from graphql import GraphQLError, GraphQLFormattedError

from recorder.answers.logs import AmbiguousLogError
from recorder.model.errors import ConfigError, RecorderError

__all__ = [
    "ApiError",
    "BusyError",
    "CursorError",
    "ExpiredCursorError",
    "InternalError",
    "LimitError",
    "LogNumberError",
    "PageSizeError",
    "SlowReaderError",
    "StoppingError",
    "TooLateError",
    "WindowTooWideError",
    "formatted_error",
    "told",
    "unforeseen",
]

log = logging.getLogger("recorder.api")


REFUSED = "the database refused the request: see the server's log"
FROM_OUTSIDE = {
    "log": REFUSED,
    "log.access": REFUSED,
    "log.schema": REFUSED,
    "log.unavailable": "the database does not answer: try again",
}
"""What clients get, by code, in place of the text of a database driver, which
can name hosts, ports and roles."""


class ApiError(RecorderError):
    """A request that cannot be answered as it is."""

    code = "api"
    status: ClassVar[int] = 400
    """Of HTTP, where nothing was executed."""


class CursorError(ConfigError):
    """A cursor that this log never gave."""

    code = "question.cursor"


class ExpiredCursorError(ConfigError):
    """What lies behind a cursor was pruned, or is of other facts by now.

    To go on from it would lose something, or tell it twice.
    """

    code = "question.cursor_expired"


class LogNumberError(ConfigError):
    """What is no number of a log."""

    code = "question.log"


class PageSizeError(ConfigError):
    """More is asked for at once than one answer holds."""

    code = "question.first"


class TooManyClustersError(ConfigError):
    """More clusters are named than one request may ask."""

    code = "question.clusters"


class WindowTooWideError(ConfigError):
    """A window that is too wide."""

    code = "question.window_too_wide"


class LimitError(ApiError):
    """A query that is too deep, too long, or asks too much at once."""

    code = "api.limit"


class BusyError(ApiError):
    """Too many questions are being answered."""

    code = "api.busy"
    status = 503


class TooLateError(ApiError):
    """An answer took longer than one may."""

    code = "api.timeout"
    status = 504


class SlowReaderError(ApiError):
    """A subscriber did not read as fast as things happened."""

    code = "api.slow_reader"

    def __init__(self, cursor: str) -> None:
        self.cursor = cursor
        super().__init__(
            "unread facts were dropped: subscribe again after the cursor"
        )


class InternalError(ApiError):
    """A defect."""

    code = "internal"
    status = 500


class StoppingError(ApiError):
    """The server ends; another one may go on."""

    code = "api.stopping"
    status = 503


def formatted_error(error: GraphQLError) -> GraphQLFormattedError:
    """Return an error as the client is told it."""
    formatted = error.formatted
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if isinstance(cause, RecorderError):
        formatted["message"] = told(cause)
        _set_code(formatted, cause.code)
        if isinstance(cause, SlowReaderError):
            formatted["extensions"]["cursor"] = cause.cursor
    elif cause is None or isinstance(cause, GraphQLError):
        _set_code(formatted, "graphql.invalid")
    else:
        formatted["message"] = unforeseen(cause)
        _set_code(formatted, InternalError.code)
    return formatted


def told(error: RecorderError) -> str:
    """Return what an error says, with the next step where that is known.

    Its own advice is in words of the command line.
    """
    if error.__cause__ is not None and error.code in FROM_OUTSIDE:
        log.warning("cannot answer: %s", error)
        return FROM_OUTSIDE[error.code]
    said = " ".join(str(error).split())
    if isinstance(error, AmbiguousLogError):
        return f"{said}; name one with cluster: or log:"
    return said


def unforeseen(error: BaseException) -> str:
    """Log an unexpected error; return a message safe to send."""
    number = secrets.token_hex(4)
    log.error("internal error %s", number, exc_info=error)
    return f"internal error {number}: see the server's log"


def _set_code(formatted: GraphQLFormattedError, code: str) -> None:
    formatted["extensions"] = {
        "code": code,
        **formatted.get("extensions", {}),
    }
