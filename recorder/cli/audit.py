"""`recorder audit`: the audit logs of API servers."""

import click

from recorder.cli.lazy import LazyGroup

COMMANDS = {
    "import": "recorder.cli.importing:import_audit",
    "coverage": "recorder.cli.answers:coverage",
}


@click.group(cls=LazyGroup, places=COMMANDS)
def audit() -> None:
    """Add the audit logs of API servers to the log.

    To follow the log of an API server while it is written, set audit_logs.
    """
