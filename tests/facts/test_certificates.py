"""Requests for certificates are about the node of their kubelet."""

from base64 import b64encode
from typing import Any

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from recorder.facts import state_of

RESOURCE = "certificates.k8s.io/v1/certificatesigningrequests"


def request_of(name: str) -> str:
    """Return a request for a certificate, as a kubelet writes it."""
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:nodes"),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )
    built = x509.CertificateSigningRequestBuilder().subject_name(subject)
    signed = built.sign(
        ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()
    )
    return b64encode(signed.public_bytes(Encoding.PEM)).decode()


def node_of(**spec: Any) -> str | None:
    document = {
        "kind": "CertificateSigningRequest",
        "apiVersion": "certificates.k8s.io/v1",
        "metadata": {"name": "csr-1", "uid": "uid-1"},
        "spec": spec,
    }
    state = state_of(msgspec.json.encode(document), RESOURCE)
    assert state is not None
    return state.node


@pytest.mark.parametrize("name", ["gpu-1", "ip-10-0-0-1.eu.internal", "n"])
def test_a_kubelet_that_joins_names_itself_in_its_request(name: str) -> None:
    request = request_of(f"system:node:{name}")
    assert node_of(username="system:bootstrap:ab", request=request) == name


def test_a_kubelet_with_a_certificate_asks_in_its_own_name() -> None:
    request = request_of("system:node:gpu-1")
    assert node_of(username="system:node:gpu-1", request=request) == "gpu-1"


@pytest.mark.parametrize(
    "request_",
    ["", "!", 7, {"a": 1}, b64encode(b"-----BEGIN-----").decode(), "ab=="],
)
def test_what_is_no_request_names_no_node(request_: object) -> None:
    assert node_of(username="ann", request=request_) is None


def test_a_certificate_of_a_person_is_about_no_node() -> None:
    assert node_of(username="ann", request=request_of("ann")) is None
