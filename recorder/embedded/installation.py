"""The parts of a server: a folder, a user, programs, processes.

Root and other users differ only here; everything after this treats both alike.
"""

from dataclasses import dataclass

from recorder.embedded.account import (
    Account,
    choose_account,
    open_folder_to,
)
from recorder.embedded.binaries import (
    Binaries,
    find_binaries,
    place_binaries,
)
from recorder.embedded.folder import DataFolder
from recorder.embedded.processes import Processes


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """All that is needed to create, start and stop a server."""

    folder: DataFolder
    account: Account
    binaries: Binaries
    processes: Processes


def install(folder: DataFolder) -> Installation:
    """Make a data folder ready for a server; idempotent.

    Processes left by an earlier server are ended first, because its programs
    may be replaced.

    Raises:
        EmbeddedError: something is missing; the message names it.
    """
    account = choose_account(folder)
    open_folder_to(account, folder)
    processes = Processes(folder, account)
    processes.end_leftovers()
    return Installation(
        folder=folder,
        account=account,
        binaries=place_binaries(
            find_binaries(), folder=folder, account=account
        ),
        processes=processes,
    )
