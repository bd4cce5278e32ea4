"""Who asks through a proxy, and over TLS whose certificates are renewed."""

import asyncio
import shutil
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509
from multidict import CIMultiDict

from recorder.keeping.tokens import TokenFile
from recorder.listening.certificates import CertificateFileError
from recorder.model.errors import ConfigError
from recorder.model.settings import Settings
from recorder.wiring.serving import serving
from tests.api.serving import Client, Reply
from tests.api.test_websocket import talking
from tests.cluster.certificates import Authority, KeyPair
from tests.support.postgres import Database

QUERY = {"query": '{ nodeNames(cluster: "crash") }'}
USER, GROUP = "X-Remote-User", "X-Remote-Group"
ALICE = ((USER, "alice@example.com"), (GROUP, "sre"), (GROUP, "oncall"))
"""As an authenticating proxy of Kubernetes sends them."""


@dataclass
class Site:
    """A server over TLS, and who signed its certificate."""

    address: str
    authority: Authority
    files: KeyPair
    token: str

    async def ask(
        self,
        headers: Sequence[tuple[str, str]] = (),
        *,
        client: KeyPair | None = None,
    ) -> Reply:
        connector = aiohttp.TCPConnector(ssl=self.trusting(client))
        async with aiohttp.ClientSession(connector=connector) as session:
            given: Mapping[str, str] = CIMultiDict(headers)
            return await Client(self.address, session).request(
                "POST", "graphql", json=QUERY, headers=given
            )

    def trusting(self, client: KeyPair | None) -> ssl.SSLContext:
        """Trust the server, and be this client."""
        context = ssl.create_default_context(
            cafile=str(self.authority.certificate)
        )
        if client is not None:
            context.load_cert_chain(client.certificate, client.key)
        return context

    async def shown(self) -> int:
        """Return the serial number of the certificate that is shown."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        port = int(self.address.rstrip("/").rpartition(":")[2])
        _, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=context
        )
        tls = writer.get_extra_info("ssl_object")
        found = x509.load_der_x509_certificate(
            tls.getpeercert(binary_form=True)
        )
        writer.close()
        return found.serial_number


@asynccontextmanager
async def a_site(dsn: str, folder: Path) -> AsyncIterator[Site]:
    authority = Authority(folder / "authority")
    files = authority.server()
    tokens = TokenFile(folder / "tokens")
    settings = Settings(
        database_url=dsn,
        data_dir=folder,
        kubeconfig="/nonexistent",
        serve_listen="127.0.0.1:0",
        token_file=folder / "tokens",
        serve_certificate=files.certificate,
        serve_key=files.key,
        serve_proxy_ca=authority.certificate,
        serve_proxy_names=("proxy",),
    )
    token = tokens.add("one")
    async with serving(settings, asyncio.Event()) as address:
        assert address.startswith("https://")
        yield Site(address, authority, files, token)


@pytest.fixture
async def site(
    asked_database: Database, tmp_path: Path
) -> AsyncIterator[Site]:
    async with a_site(asked_database.dsn("reader"), tmp_path) as made:
        yield made


async def test_a_proxy_says_who_asks_with_its_certificate_alone(
    site: Site,
) -> None:
    proxy = site.authority.client("proxy")
    other = site.authority.client("someone")

    assert (await site.ask(ALICE, client=proxy)).status == 200
    for client in (None, other):
        forged = await site.ask(ALICE, client=client)
        assert (forged.status, forged.codes) == (401, ["access.denied"])
        assert "certificate of the proxy" in forged.body.decode()
    # Not with a token of one's own either: who asks would be two.
    bearer = ("Authorization", f"Bearer {site.token}")
    assert (await site.ask([bearer, *ALICE])).status == 401
    assert (await site.ask([bearer])).status == 200
    assert (await site.ask([bearer], client=other)).status == 200
    assert (await site.ask()).status == 401


async def test_a_certificate_of_another_authority_is_refused(
    site: Site, tmp_path: Path
) -> None:
    forger = Authority(tmp_path / "forger").client("proxy")

    with pytest.raises((aiohttp.ClientError, ssl.SSLError, OSError)):
        await site.ask(ALICE, client=forger)


@pytest.mark.parametrize(
    "headers",
    [
        [(GROUP, "sre")],
        [(USER, ""), (GROUP, "sre")],
        [(USER, "alice"), (USER, "bob")],
        [(USER, "system:admin")],
        [(USER, "alice"), (GROUP, "sre,system:masters")],
        [(USER, "alice"), (GROUP, "sre|system:masters")],
        [(USER, "alice"), *[(GROUP, f"g{n}") for n in range(600)]],
    ],
    ids=["none", "empty", "two", "reserved", "masters", "bar", "many"],
)
async def test_a_proxy_that_names_no_one_rightly_is_refused(
    site: Site, headers: Sequence[tuple[str, str]]
) -> None:
    proxy = site.authority.client("proxy")

    refused = await site.ask(headers, client=proxy)

    assert (refused.status, refused.codes) == (401, ["access.denied"])


async def test_two_names_are_refused_over_a_websocket_too(site: Site) -> None:
    """Also where a token in the first message joins the headers."""
    proxy = site.authority.client("proxy")
    context = site.trusting(proxy)
    connector = aiohttp.TCPConnector(ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:
        client = Client(site.address, session)
        for names, closed in ((["alice"], None), (["root", "alice"], 4403)):
            headers = CIMultiDict([(USER, name) for name in names])
            async with talking(client, headers=headers) as one:
                if closed is None:
                    await one.begin(Authorization="Bearer none")
                    continue
                await one.say(
                    type="connection_init",
                    payload={"Authorization": "Bearer none"},
                )
                assert await one.closed() == closed


async def test_a_renewed_certificate_is_shown_without_a_restart(
    site: Site, tmp_path: Path
) -> None:
    old = await site.shown()
    renewed = Authority(tmp_path / "renewed").server()

    # The files come one after the other: half of a pair is not shown.
    shutil.copy(renewed.certificate, site.files.certificate)
    assert [await site.shown() for _ in range(2)] == [old, old]
    shutil.copy(renewed.key, site.files.key)

    await site.shown()
    new = x509.load_pem_x509_certificate(renewed.certificate.read_bytes())
    assert await site.shown() == new.serial_number


async def test_a_certificate_that_cannot_be_used_is_reported_at_once(
    asked_database: Database, tmp_path: Path
) -> None:
    missing = Settings(
        database_url=asked_database.dsn("reader"),
        data_dir=tmp_path,
        serve_listen="127.0.0.1:0",
        serve_certificate=tmp_path / "absent",
        serve_key=tmp_path / "absent",
    )
    with pytest.raises(CertificateFileError, match="of the API"):
        async with serving(missing, asyncio.Event()):
            pass
    halves = Settings(
        database_url=asked_database.dsn("reader"),
        data_dir=tmp_path,
        serve_listen="127.0.0.1:0",
        serve_proxy_ca=tmp_path / "ca",
    )
    with pytest.raises(ConfigError, match="serve_certificate"):
        async with serving(halves, asyncio.Event()):
            pass
