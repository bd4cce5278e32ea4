"""Errors as clients see them: a code and a message, without internals.

A `RecorderError` is sent with its message and code. An unexpected exception is
sent as a number, under which the server's log has the details.
"""

import logging
import secrets
from typing import ClassVar

from graphql import GraphQLError, GraphQLFormattedError

from recorder.answers.logs import AmbiguousLogError
from recorder.model.errors import ConfigError, RecorderError

log = logging.getLogger("recorder.api")


REFUSED = "the database refused the request: see the server's log"
FROM_OUTSIDE = {
    "log": REFUSED,
    "log.access": REFUSED,
    "log.schema": REFUSED,
    "log.unavailable": "the database does not answer: try again",
}
"""The messages that clients get, by code, in place of the text of a database
driver, which can name hosts, ports and roles."""


class ApiError(RecorderError):
    """A request that cannot be answered."""

    code = "api"
    status: ClassVar[int] = 400
    """The HTTP status if nothing was executed."""


class CursorError(ConfigError):
    """A cursor that this log did not issue."""

    code = "question.cursor"


class ExpiredCursorError(ConfigError):
    """What follows a cursor was pruned, or its facts were derived again.

    To continue from it would skip items or repeat them.
    """

    code = "question.cursor_expired"


class LimitError(ApiError):
    """A query that is too deep, too long, or selects too much."""

    code = "api.limit"


class BusyError(ApiError):
    """Too many requests are being answered."""

    code = "api.busy"
    status = 503


class TooLateError(ApiError):
    """An answer took longer than allowed."""

    code = "api.timeout"
    status = 504


class SlowReaderError(ApiError):
    """A subscriber did not read fast enough."""

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
    """The server is stopping; another one may continue."""

    code = "api.stopping"
    status = 503


def formatted_error(error: GraphQLError) -> GraphQLFormattedError:
    """Return an error as it is sent to the client."""
    formatted = error.formatted
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if isinstance(cause, RecorderError):
        formatted["message"] = client_message(cause)
        _set_code(formatted, cause.code)
        if isinstance(cause, SlowReaderError):
            formatted["extensions"]["cursor"] = cause.cursor
    elif cause is None or isinstance(cause, GraphQLError):
        _set_code(formatted, "graphql.invalid")
    else:
        formatted["message"] = unforeseen(cause)
        _set_code(formatted, InternalError.code)
    return formatted


def client_message(error: RecorderError) -> str:
    """Return the message of an error, with the next step where it is known.

    The advice of the error itself is for the command line, and left out.
    """
    if error.__cause__ is not None and error.code in FROM_OUTSIDE:
        log.warning("cannot answer: %s", error)
        return FROM_OUTSIDE[error.code]
    message = " ".join(str(error).split())
    if isinstance(error, AmbiguousLogError):
        return (
            f"{message}: there are {error.listed}; name one with cluster: or"
            " log:"
        )
    return message


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
