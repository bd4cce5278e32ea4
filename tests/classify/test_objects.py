"""Objects that are not as they should be, and the nodes they concern."""

from typing import Any

import pytest

from recorder.facts.classify import read_head
from recorder.facts.classify.text import TEXT_SIZE_BYTES_MAX, clean
from recorder.model.reference import ObjectIdentity
from recorder.model.validity import UnreadableError
from tests.classify import documents
from tests.classify.examples import LEASES, NODES, PODS, drafted


def named(name: str = "a", **members: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}} | members


@pytest.mark.parametrize(
    ("document", "resource", "node"),
    [
        (named(), NODES, "a"),
        (named(), "metrics.k8s.io/v1/nodes", None),
        (named(spec={"nodeName": "n"}), PODS, "n"),
        (named(spec={"nodeName": ""}), PODS, None),
        (named(spec={}), PODS, None),
        (named(status={"nominatedNodeName": "n"}), PODS, None),
        (
            named(spec={"nodeName": "n"}),
            "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes",
            "n",
        ),
        (named(spec={"holderIdentity": "someone"}), LEASES, None),
    ],
)
def test_the_node_is_taken_from_where_the_kind_says_it(
    document: Any, resource: str, node: str | None
) -> None:
    assert drafted(document, resource).node == node


def test_a_lease_of_a_node_concerns_it_by_name_or_holder() -> None:
    lease = documents.lease()
    lease["spec"] = {"holderIdentity": "gpu-009"}

    assert drafted(lease, LEASES).node == "gpu-002"
    del lease["metadata"]["name"]
    assert drafted(lease, LEASES).node == "gpu-009"
    del lease["spec"]
    assert drafted(lease, LEASES).node is None


def test_a_lease_without_spec_still_concerns_its_node() -> None:
    lease = documents.lease()
    del lease["spec"]

    assert drafted(lease, LEASES).node == "gpu-002"


@pytest.mark.parametrize(
    "members",
    [
        {"metadata": {"name": {}, "uid": "u", "namespace": []}},
        {"metadata": {"name": None, "uid": "u"}, "kind": True, "spec": []},
        {"metadata": {"uid": "u", "resourceVersion": [12]}, "spec": 1},
        {"metadata": {"uid": "u"}, "apiVersion": {}, "spec": "text"},
    ],
)
def test_a_field_of_the_wrong_type_counts_as_absent(members: Any) -> None:
    draft = drafted(members, kind="Pod")

    assert draft.identity == ObjectIdentity("", "Pod", "", "", "u")
    assert draft.resource_version is None


@pytest.mark.parametrize(
    "raw",
    [
        b'{"metadata":{"uid":"u"},"metadata":7}',
        b'{"metadata":[]}',
        b'{"metadata":null,"spec":null}',
        b"{}",
    ],
)
def test_an_object_that_says_nothing_has_no_identity(raw: bytes) -> None:
    draft = drafted(raw)

    assert draft.identity is None
    assert draft.raw is raw


def test_a_number_in_the_place_of_a_text_is_read_as_written() -> None:
    raw = b'{"metadata":{"name":17.0,"resourceVersion":120},"kind":"Pod"}'

    assert drafted(raw).identity == ObjectIdentity("", "Pod", "", "17.0", None)
    assert drafted(raw).resource_version == "120"


def test_numbers_out_of_range_do_not_matter() -> None:
    digits = b"9" * 10_000
    raw = b'{"metadata":{"name":"a","uid":%s},"x":1e999999}' % digits

    identity = drafted(raw).identity
    assert identity is not None
    assert identity.uid == "9" * TEXT_SIZE_BYTES_MAX


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"17",
        b'{"metadata":{"name":"\xff"}}',
        b'{"metadata":{"name":NaN}}',
        b'{"metadata":{"name":"a"}} {}',
        b"\xef\xbb\xbf{}",
        b'{"spec":' * 200_000 + b"1" + b"}" * 200_000,
    ],
)
def test_what_is_no_object_is_refused(raw: bytes) -> None:
    with pytest.raises(UnreadableError, match="cannot read "):
        drafted(raw)
    with pytest.raises(UnreadableError, match="cannot read "):
        read_head(raw)


def test_text_that_postgresql_refuses_is_cleaned_in_the_columns() -> None:
    raw = (
        rb'{"metadata":{"name":"a\u0000b\ud800c","uid":"\u0000",'
        rb'"resourceVersion":"1\u0000"},"kind":"K\udfff"}'
    )

    draft = drafted(raw)

    assert draft.identity == ObjectIdentity(
        "", "K\ufffd", "", "a\ufffdb\ufffdc", "\ufffd"
    )
    assert draft.resource_version == "1\ufffd"
    assert draft.raw is raw


@pytest.mark.parametrize("letter", ["a", "\u00e9", "\u4e2d", "\U0001f600"])
def test_text_in_the_columns_is_bounded_in_bytes(letter: str) -> None:
    text = clean(letter * 5_000)

    assert text is not None
    size = len(text.encode())
    assert TEXT_SIZE_BYTES_MAX - 4 < size <= TEXT_SIZE_BYTES_MAX
    assert set(text) == {letter}
