"""A command that uses the embedded server, for tests to start and kill.

``python -m tests.embedded.command FOLDER`` opens the server, prints one
JSON line about it (or about the error) and stays until its input ends.
"""

import asyncio
import json
import sys
from pathlib import Path

from recorder.embedded.errors import EmbeddedError
from recorder.embedded.locks import RecordingLock
from recorder.embedded.server import EmbeddedServer, ServerOptions

ROLES_SQL = (
    Path(__file__).parents[2].joinpath("deploy/sql/roles.sql").read_text()
)
OPTIONS = ServerOptions(shared_buffers="16MB")


async def use_server(folder: Path) -> None:
    async with EmbeddedServer.open(
        folder, roles_sql=ROLES_SQL, options=OPTIONS
    ) as server:
        say(
            version=server.version,
            folder=str(server.folder),
            dsn={
                role: server.dsn(role)
                for role in ("owner", "writer", "reader")
            },
        )
        await asyncio.to_thread(sys.stdin.read)


def hold_recording_lock(folder: Path) -> None:
    with RecordingLock(folder):
        say(held=True)
        sys.stdin.read()


def say(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


def main() -> None:
    folder = Path(sys.argv[1])
    try:
        if sys.argv[2:] == ["record"]:
            hold_recording_lock(folder)
        else:
            asyncio.run(use_server(folder))
    except EmbeddedError as error:
        say(code=error.code, error=str(error))


if __name__ == "__main__":
    main()
