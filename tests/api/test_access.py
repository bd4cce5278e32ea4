"""Who may ask, and that all others may not."""

import asyncio
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from api.access import OpenToAllError
from api.errors import client_message
from recorder.keeping.tokens import TokenFile, TokenFileError
from recorder.model.errors import ConfigError, LogUnavailableError
from recorder.model.settings import Settings
from recorder.store.translate import translate_errors
from recorder.wiring.serving import serving
from tests.api.listening import listening
from tests.api.serving import Client, Reply, served_by
from tests.support.postgres import Database

QUERY = {"query": '{ nodeNames(cluster: "crash") }'}


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "tokens")


@pytest.fixture
async def guarded(
    asked_database: Database, tokens: TokenFile, tmp_path: Path
) -> AsyncIterator[Client]:
    tokens.add("first")
    async with served_by(
        asked_database.dsn("reader"), tokens=tmp_path / "tokens"
    ) as client:
        yield client


async def asked(client: Client, token: str | None) -> Reply:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return await client.post(QUERY, headers=headers)


async def test_a_token_admits_from_when_it_is_made_until_it_is_revoked(
    guarded: Client, tokens: TokenFile
) -> None:
    one, other = tokens.add("grafana"), tokens.add("page")
    assert (await asked(guarded, one)).status == 200
    assert (await asked(guarded, other)).status == 200

    tokens.revoke("grafana")

    refused = await asked(guarded, one)
    assert refused.status == 401
    assert refused.codes == ["access.denied"]
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert (await asked(guarded, other)).status == 200


@pytest.mark.parametrize("token", [None, "", "rec_wrong", "x" * 5000, "ä"])
async def test_no_one_else_is_admitted(
    guarded: Client, token: str | None
) -> None:
    reply = await asked(guarded, token)
    exported = await guarded.request("GET", "export.ndjson?cluster=crash")

    assert reply.status == 401
    assert exported.status == 401


async def test_a_subscription_ends_when_its_token_is_revoked(
    guarded: Client, tokens: TokenFile
) -> None:
    token = tokens.add("subscriber")
    async with listening(
        guarded, headers={"Authorization": f"Bearer {token}"}
    ) as one:
        await one.batch()
        tokens.revoke("subscriber")
        async with asyncio.timeout(2):
            name, document = await one.event()
            ended, _ = await one.event()

    assert (name, ended) == ("next", "complete")
    assert document["errors"][0]["extensions"]["code"] == "access.denied"


async def test_probes_need_no_token_and_show_nothing(guarded: Client) -> None:
    for path in ("healthz", "readyz"):
        reply = await guarded.request("GET", path)
        assert reply.status == 200
        assert len(reply.body) < 20


async def test_tokens_that_cannot_be_read_admit_no_one(
    guarded: Client, tokens: TokenFile, tmp_path: Path
) -> None:
    token = tokens.add("one")
    (tmp_path / "tokens").write_text("nonsense\n")

    reply = await asked(guarded, token)

    assert reply.status == 503
    assert reply.codes == ["access.unavailable"]
    assert str(tmp_path) not in reply.body.decode()


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "example.com:0"])
async def test_an_address_of_others_needs_tokens(
    asked_database: Database, listen: str
) -> None:
    settings = Settings(
        database_url=asked_database.dsn("reader"), serve_listen=listen
    )
    with pytest.raises(ConfigError, match="token_file") as refused:
        async with serving(settings, asyncio.Event()):
            pass

    assert isinstance(refused.value, OpenToAllError)


async def test_an_address_of_others_may_be_served_with_tokens(
    asked_database: Database, tokens: TokenFile, tmp_path: Path
) -> None:
    token = tokens.add("one")
    settings = Settings(
        database_url=asked_database.dsn("reader"),
        data_dir=tmp_path,
        serve_listen="0.0.0.0:0",
        token_file=tmp_path / "tokens",
    )
    async with serving(settings, asyncio.Event()) as address:
        port = address.rstrip("/").rpartition(":")[2]
        async with served_client(f"http://127.0.0.1:{port}/") as client:
            assert (await asked(client, None)).status == 401
            named = await client.post(
                QUERY,
                headers={
                    "Authorization": f"Bearer {token}",
                    "Host": "recorder.example",
                },
            )
            assert named.status == 200


@asynccontextmanager
async def served_client(address: str) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(address, session)


def test_a_token_is_nowhere_kept(tokens: TokenFile, tmp_path: Path) -> None:
    token = tokens.add("one")

    kept = (tmp_path / "tokens").read_text()

    assert token not in kept
    assert token.removeprefix("rec_") not in kept
    mode = stat.S_IMODE((tmp_path / "tokens").stat().st_mode)
    assert mode == 0o600
    assert [one.name for one in tokens.tokens()] == ["one"]


def test_a_name_is_given_once(tokens: TokenFile) -> None:
    tokens.add("one")
    for name in ("one", "", "two words", "a\nb", "../up"):
        with pytest.raises(TokenFileError):
            tokens.add(name)
    with pytest.raises(TokenFileError, match='no token "other"'):
        tokens.revoke("other")


def test_words_of_a_driver_stay_in_the_log_of_the_server() -> None:
    failed = OSError("Connect call failed ('10.0.0.5', 5432)")
    with (
        pytest.raises(LogUnavailableError) as refused,
        translate_errors("read nodes"),
    ):
        raise failed

    assert "10.0.0.5" in str(refused.value)
    assert (
        client_message(refused.value)
        == "the database does not answer: try again"
    )
    away = LogUnavailableError('cluster "prod" is away: it does not respond')
    assert client_message(away) == str(away)
