"""Redaction against an oracle that decodes everything and knows no bytes.

Documents are drawn with environments, Secrets and copies of both within
strings, and written in every way that JSON allows: with whitespace, keys and
values spelled in escapes, names after values, keys given twice. The oracle
decodes both sides, duplicates kept, and walks them together. It was written
from the rules, not from the code.
"""

import base64
import json
import re
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recorder.model.errors import InputError
from tests.redact.examples import digest, redaction

DIGEST = re.compile(r"redacted:[0-9a-f]{32}")
SECRET_NAMES = ("DB_PASSWORD", "HF_TOKEN", "apiKey", "X_SECRET")
PLAIN_NAMES = ("MODE", "PATH", "n\u00e4me", "")


class Members(tuple[tuple[str, Any], ...]):
    """An object, its duplicate keys included."""

    __slots__ = ()


class Spelled(NamedTuple):
    """A document as bytes; the seed decides how it was written."""

    raw: bytes
    secrets: frozenset[str]


# Values are recognisable, so that one that slipped through is found wherever
# it went; what is secret and what is not cannot be seen from their form.
values = st.integers(0, 10**9).map(lambda n: f'v\u00e9"{n:010d}\\')
texts = st.sampled_from(["", "env", "Secret", "a<b>&c", "\u2028", "[{", "\\"])
scalars = st.one_of(
    values,
    texts,
    st.integers(-(10**6), 10**6),
    st.sampled_from([True, False, None, 0.5, -1.5e300]),
)
names = st.sampled_from(SECRET_NAMES + PLAIN_NAMES)


def members(pairs: Any) -> Members:
    return Members(tuple(pairs))


items = st.one_of(
    st.tuples(names, values).map(
        lambda pair: members([("name", pair[0]), ("value", pair[1])])
    ),
    st.lists(
        st.one_of(
            st.tuples(st.just("name"), names),
            st.tuples(st.just("value"), st.one_of(values, scalars)),
            st.tuples(
                st.just("valueFrom"), st.just(members([("a", members([]))]))
            ),
        ),
        max_size=4,
    ).map(members),
)
environments = st.tuples(
    st.just("env"), st.lists(st.one_of(items, items, scalars), max_size=4)
)
data = st.lists(st.tuples(texts, values), max_size=3).map(members)
secrets = st.permutations(
    [("kind", "Secret"), ("data", None), ("stringData", None), ("x", "y")]
).flatmap(
    lambda pairs: st.tuples(
        *(
            st.tuples(st.just(key), data if value is None else st.just(value))
            for key, value in pairs
        )
    ).map(members)
)


def containers(inner: Any) -> Any:
    keys = st.sampled_from(["a", "value", "name", "items", "data", "spec"])
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(
            st.one_of(st.tuples(keys, inner), environments), max_size=4
        ).map(members),
        inner.filter(lambda value: not isinstance(value, str)).map(
            lambda value: written(value, None)
        ),
    )


trees = st.recursive(
    st.one_of(
        scalars, secrets, environments.map(lambda pair: members([pair]))
    ),
    containers,
    max_leaves=12,
)


def written(value: Any, chance: Any) -> str:
    """Write JSON; in the plain way without chance, else in any way."""
    if isinstance(value, Members):
        inner = f"{gap(chance)},{gap(chance)}".join(
            f"{written(key, chance)}{gap(chance)}:"
            f"{gap(chance)}{written(member, chance)}"
            for key, member in value
        )
        return f"{{{gap(chance)}{inner}{gap(chance)}}}"
    if isinstance(value, list):
        inner = f"{gap(chance)},{gap(chance)}".join(
            written(member, chance) for member in value
        )
        return f"[{gap(chance)}{inner}{gap(chance)}]"
    if isinstance(value, str) and chance is not None:
        return spelled(value, chance)
    return json.dumps(value, ensure_ascii=False)


def gap(chance: Any) -> str:
    if chance is None or chance.random() < 0.7:
        return ""
    return str(chance.choice(["", " ", "\n\t"]))


def spelled(text: str, chance: Any) -> str:
    if chance.random() < 0.8:
        return json.dumps(text, ensure_ascii=chance.random() < 0.5)
    letters = (
        json.dumps(letter)[1:-1]
        if chance.random() < 0.7 or ord(letter) > 0xFFFF
        else f"\\u{ord(letter):04{chance.choice('xX')}}"
        for letter in text
    )
    return f'"{"".join(letters)}"'


documents = st.builds(
    lambda tree, chance: written(tree, chance).encode(),
    trees,
    st.one_of(st.none(), st.randoms(use_true_random=False)),
)


def decoded(text: str | bytes) -> Any:
    return json.loads(text, object_pairs_hook=members)


class Oracle:
    """Compares a document with what became of it."""

    def __init__(self) -> None:
        self.hidden: set[str] = set()
        self.shown: set[str] = set()
        self.changes = 0

    def check(self, before: Any, after: Any) -> None:
        """Fail unless exactly the secrets differ."""
        if isinstance(before, Members):
            self.check_object(before, after, is_item=False)
        elif isinstance(before, list):
            assert len(before) == len(after)
            for old, new in zip(before, after, strict=True):
                self.check(old, new)
        elif isinstance(before, str):
            self.check_text(before, after)
        else:
            assert before == after

    def check_object(
        self, before: Members, after: Any, *, is_item: bool
    ) -> None:
        assert [key for key, _ in before] == [key for key, _ in after]
        said = [value for key, value in before if key == "kind"]
        is_secret = "Secret" in said
        hides = is_item and any(
            value in SECRET_NAMES for key, value in before if key == "name"
        )
        for (key, old), (_, new) in zip(before, after, strict=True):
            if is_secret and key in {"data", "stringData"}:
                self.check_data(old, new)
            elif hides and key == "value" and old is not None:
                self.check_digest(old, new)
            elif key == "env" and isinstance(old, list):
                self.check_environment(old, new)
            else:
                self.check(old, new)

    def check_environment(self, before: list[Any], after: Any) -> None:
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            if isinstance(old, Members):
                self.check_object(old, new, is_item=True)
            else:
                self.check(old, new)

    def check_data(self, before: Any, after: Any) -> None:
        if isinstance(before, Members):
            assert [key for key, _ in before] == [key for key, _ in after]
            for (_, old), (_, new) in zip(before, after, strict=True):
                assert new == ("redacted" if old is not None else None)
                self.note(old, self.hidden)
        elif before is not None:
            assert after == "redacted"
            self.note(before, self.hidden)

    def check_digest(self, before: Any, after: Any) -> None:
        if isinstance(before, str):
            assert after == digest(before)
        else:
            assert DIGEST.fullmatch(after)
        self.note(before, self.hidden)

    def check_text(self, before: str, after: Any) -> None:
        try:
            inner = decoded(before)
        except ValueError:
            inner = None
        if isinstance(inner, Members | list | str) and before != after:
            self.check(inner, decoded(after))
            return
        assert before == after
        self.note(before, self.shown)
        if isinstance(inner, Members | list):
            # It must have been right to leave the copy alone.
            self.check(inner, inner)

    def note(self, value: Any, where: set[str]) -> None:
        if where is self.hidden:
            self.changes += 1
        found = re.findall(r"\d{10}", json.dumps(value, default=str))
        where.update(found)


def spellings(marker: str) -> list[bytes]:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in marker)
    return [
        marker.encode(),
        escaped.encode(),
        *(
            base64.b64encode(("_" * shift + marker).encode())[4:-4]
            for shift in range(3)
        ),
    ]


@settings(max_examples=300, deadline=None)
@given(documents)
@example(b'{"env":[{"name":"HF_TOKEN","value":"{\\"env\\":[]}"}]}')
@example(b'{"kind":"Secret","data":{"a":"{\\"kind\\":\\"Secret\\"}"}}')
@example(b'{"value":{"env":[{"name":"MODE","env":[],"value":[]}]},"name":""}')
def test_exactly_the_secrets_change(raw: bytes) -> None:
    once = redaction.any_json(raw)

    oracle = Oracle()
    oracle.check(decoded(raw), decoded(once))
    for marker in oracle.hidden - oracle.shown:
        assert not any(spelling in once for spelling in spellings(marker))
    if not oracle.changes:
        assert once is raw
    assert redaction.any_json(once) == once


@settings(max_examples=150, deadline=None)
@given(documents)
def test_the_ways_in_agree(raw: bytes) -> None:
    """The same secrets are hidden, whichever way a document comes."""
    once = redaction.any_json(raw)

    assert redaction.document(raw, resource=None) == once
    assert redaction.document(raw, resource="a/v1/b", served=True) == once
    assert redaction.document(raw, resource="a/v1/b", checked=True) == once
    assert redaction.document(raw, resource="v1/pods") == once


plain_trees = st.lists(environments, max_size=3).map(
    lambda pairs: members([("spec", members(pairs))])
)


@settings(max_examples=100, deadline=None)
@given(plain_trees)
def test_a_served_pod_hides_as_much_as_any(tree: Members) -> None:
    raw = written(tree, None).encode()

    assert redaction.document(
        raw, resource="v1/pods", served=True
    ) == redaction.any_json(raw)


@settings(max_examples=100, deadline=None)
@given(documents, st.data())
def test_a_secret_resource_hides_all_data(raw: bytes, chosen: Any) -> None:
    once = redaction.document(raw, resource="v1/secrets")

    assert redaction.document(once, resource="v1/secrets") == once
    cut = chosen.draw(st.integers(0, len(raw)))
    redaction.refused(raw[:cut])


mutations = st.tuples(documents, st.integers(0, 10_000), st.binary(max_size=6))


@settings(max_examples=200, deadline=None)
@given(mutations)
@example((b"[" * 5000, 0, b""))
@example((b'"' + b"\\" * 999, 0, b""))
@example((b'{"env":[{"name":"HF_TOKEN","value":"\\ud800"}]}', 0, b""))
@example((b'{"\\ud800env":[{"name":"HF_TOKEN","value":"\\udc00a"}]}', 0, b""))
@example((b'{"env":[{"name":"HF_TOKEN","value":1e999999}]}', 0, b""))
@example((b'{"env":[{"name":"HF_TOKEN","value":NaN}]}', 0, b""))
@example((b'\xef\xbb\xbf{"env":[]}', 0, b""))
def test_bytes_are_redacted_or_refused(mutation: Any) -> None:
    raw, place, new = mutation
    place %= len(raw) + 1
    raw = raw[:place] + new + raw[place + len(new) :]

    for act in (
        redaction.any_json,
        redaction.audit,
        lambda raw: redaction.document(raw, resource=None),
        lambda raw: redaction.document(raw, resource="v1/secrets"),
        lambda raw: redaction.document(raw, resource="v1/pods", served=True),
    ):
        try:
            once = act(raw)
        except InputError:
            continue
        assert act(once) == once


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused_by_one_error(raw: bytes) -> None:
    try:
        decoded(raw.decode())
    except (ValueError, RecursionError):
        with pytest.raises(InputError):
            redaction.any_json(raw)
