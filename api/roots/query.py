"""Where questions begin: by node, object, workload, incident, window."""

from api.describing import described
from api.roots.about_logs import AboutLogs
from api.roots.about_nodes import AboutNodes

__all__ = ["Query"]


@described
class Query(AboutLogs, AboutNodes):
    """Questions about what was recorded; nothing here changes anything.

    Each field is null if it could not be answered; `errors` says why, with a
    stable word in `extensions.code`. All fields of one query speak of one
    state of a log.
    """
