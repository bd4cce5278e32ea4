"""The certificates and kubeconfigs of one cluster.

Kubernetes knows its users by their client certificates: the common name is
the user, the organisations are the groups. One authority signs all of them
and the servers' too. Keys are elliptic: an RSA key costs a tenth of a second,
and a cluster has a dozen.
"""

import ipaddress
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["Authority", "KeyPair", "kubeconfig"]

LIFE = timedelta(days=30)
SKEW = timedelta(hours=1)
"""How far back a certificate is valid, for a clock that is set back."""

SERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
SERVER_ADDRESSES = ("127.0.0.1", "10.0.0.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """Two files: a certificate, or a bare public key, and its key."""

    certificate: Path
    key: Path


class Authority:
    """Signs every certificate of a cluster into one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("recorder-test-ca", ())
        self.certificate = folder / "ca.crt"
        """What clients and servers trust."""

        constraints = x509.BasicConstraints(ca=True, path_length=None)
        usage = _usage(signs_certificates=True)
        signed = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(constraints, critical=True)
            .add_extension(usage, critical=True)
            .add_extension(self._subject_key_id(), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate.write_bytes(_pem(signed))

    def server(self, *also: str) -> KeyPair:
        """Sign a certificate for every server, and for more names."""
        names: list[x509.GeneralName] = [
            x509.DNSName(name) for name in (*SERVER_NAMES, *also)
        ]
        names += [
            x509.IPAddress(ipaddress.ip_address(address))
            for address in SERVER_ADDRESSES
        ]
        return self._sign(
            _name("kube-apiserver", ()),
            "server",
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
            x509.SubjectAlternativeName(names),
        )

    def client(self, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """Sign a certificate that makes its holder this user."""
        return self._sign(
            _name(user, groups),
            user.replace("/", "_").replace(":", "_"),
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]),
        )

    def service_account_keys(self) -> KeyPair:
        """Make the key that signs service accounts' tokens."""
        key = ec.generate_private_key(ec.SECP256R1())
        pair = self._files("service-account")
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM,
            serialization.PublicFormat.SubjectPublicKeyInfo,
        )
        pair.certificate.write_bytes(public)
        _write_key(pair.key, key)
        return pair

    def _sign(
        self, name: x509.Name, file: str, *extensions: x509.ExtensionType
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        pair = self._files(file)
        builder = _builder(name, self._name, key.public_key())
        builder = builder.add_extension(
            _usage(signs_certificates=False), critical=True
        )
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(
            self._key.public_key()
        )
        builder = builder.add_extension(issuer, critical=False)
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        signed = builder.sign(self._key, hashes.SHA256())
        pair.certificate.write_bytes(_pem(signed))
        _write_key(pair.key, key)
        return pair

    def _files(self, name: str) -> KeyPair:
        return KeyPair(
            certificate=self._folder / f"{name}.crt",
            key=self._folder / f"{name}.key",
        )

    def _subject_key_id(self) -> x509.SubjectKeyIdentifier:
        return x509.SubjectKeyIdentifier.from_public_key(
            self._key.public_key()
        )


def kubeconfig(
    path: Path,
    *,
    server: str,
    authority: Path,
    user: KeyPair | str,
    name: str = "recorder-test",
    proxy: str | None = None,
) -> Path:
    """Write a kubeconfig for the holder of a certificate, or of a token.

    Certificates are named by path, so that one can be replaced under a
    running client. JSON is YAML enough for every reader.
    """
    if isinstance(user, str):
        credentials = {"token": user}
    else:
        credentials = {
            "client-certificate": str(user.certificate),
            "client-key": str(user.key),
        }
    cluster = {"server": server, "certificate-authority": str(authority)}
    if proxy is not None:
        cluster["proxy-url"] = proxy
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": credentials}],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": name}}
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(json.dumps(document, indent=2) + "\n")
    return path


def _name(user: str, groups: Sequence[str]) -> x509.Name:
    attributes = [
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)
        for group in groups
    ]
    attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, user))
    return x509.Name(attributes)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + LIFE)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
