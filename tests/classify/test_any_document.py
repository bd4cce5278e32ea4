"""Whatever JSON comes, it is read or refused, and nothing else happens."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recorder.facts.classify import (
    lease_renewed_at,
    node_ready,
    read_head,
    substance,
)
from recorder.facts.classify.text import TEXT_SIZE_BYTES_MAX
from recorder.model.entry import Draft
from recorder.model.errors import InputError
from recorder.model.reference import Resource
from tests.classify import documents
from tests.classify.examples import EVENTS, LEASES, NODES, PODS, drafted

ALL = (EVENTS, "events.k8s.io/v1/events", LEASES, NODES, PODS)
KEYS = sorted(
    {
        "metadata name namespace uid resourceVersion creationTimestamp kind",
        "apiVersion spec nodeName holderIdentity renewTime status conditions",
        "type involvedObject regarding reason source deprecatedSource host",
        "component reportingComponent reportingController reportingInstance",
        "series lastObservedTime eventTime lastTimestamp firstTimestamp",
        "managedFields images items data",
    }
)
keys = st.sampled_from(" ".join(KEYS).split())
strange_texts = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=12),
    st.sampled_from(["Node", "kubelet", "kube-node-lease", "9" * 2000]),
    st.datetimes().map(lambda moment: f"{moment.isoformat()}+09:30"),
    st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"),
)
trees: Any = st.recursive(
    st.one_of(
        strange_texts,
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(keys, keys, strange_texts), inner),
    ),
    max_leaves=20,
)
objects = st.dictionaries(keys, trees, max_size=8)


def check_storable(draft: Draft) -> None:
    identity = draft.identity
    texts = [draft.resource_version, draft.node, draft.reason, draft.actor]
    if identity is not None:
        texts += [identity.group, identity.kind, identity.namespace]
        texts += [identity.name, identity.uid]
    for text in texts:
        if text is not None:
            assert "\x00" not in text
            assert len(text.encode()) <= TEXT_SIZE_BYTES_MAX
    if draft.occurred_at is not None:
        assert draft.occurred_at.tzinfo is not None
        assert 1970 <= draft.occurred_at.year <= 9999


@settings(max_examples=150, deadline=None)
@given(document=objects, escape=st.booleans())
@example(document={"metadata": {"name": "\ud800\x00"}}, escape=True)
def test_every_object_gives_a_draft(*, document: Any, escape: bool) -> None:
    text = json.dumps(document, ensure_ascii=escape)
    raw = text.encode("utf-8", "replace" if not escape else "strict")

    for resource in ALL:
        check_storable(drafted(raw, resource))
        substance(raw, Resource.parse(resource))
    read_head(raw)
    node_ready(raw)
    lease_renewed_at(raw)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["event", "events_v1_event", "node", "pod", "lease"]),
    st.integers(0, 20_000),
    st.binary(max_size=8),
    st.sampled_from(ALL),
)
def test_damaged_bytes_give_a_draft_or_one_error(
    name: str, place: int, new: bytes, resource: str
) -> None:
    raw = documents.compact(getattr(documents, name)())
    place %= len(raw)
    raw = raw[:place] + new + raw[place + len(new) :]

    try:
        draft = drafted(raw, resource)
    except InputError:
        pass
    else:
        check_storable(draft)
    substance(raw, Resource.parse(resource))


@given(st.binary(max_size=100))
def test_arbitrary_bytes_give_one_error(raw: bytes) -> None:
    try:
        is_object = isinstance(json.loads(raw.decode()), dict)
    except (ValueError, RecursionError):
        is_object = False

    if not is_object:
        with pytest.raises(InputError):
            drafted(raw)
