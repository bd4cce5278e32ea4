"""What counts as another content of one version."""

from recorder.sources.watch.sameness import may_be_same

KNOWN = b'{"metadata":{"name":"a","labels":{"x":"1"}},"spec":{"n":1,"l":[1]}}'


def _same(live: bytes) -> bool:
    return may_be_same(KNOWN, live)


def test_a_get_says_kind_and_version_and_a_list_does_not() -> None:
    assert _same(b'{"kind":"Pod","apiVersion":"v1",' + KNOWN[1:])


def test_order_and_spaces_are_no_difference() -> None:
    assert _same(
        b'{"spec": {"l": [1], "n": 1},'
        b' "metadata": {"labels": {"x": "1"}, "name": "a"}}'
    )


def test_a_field_that_a_newer_server_adds_is_no_difference() -> None:
    assert _same(KNOWN.replace(b'"n":1', b'"n":1,"new":"Default"'))


def test_another_value_is_a_difference() -> None:
    assert not _same(KNOWN.replace(b'"n":1', b'"n":2'))
    assert not _same(KNOWN.replace(b"[1]", b"[1,2]"))


def test_another_label_is_a_difference() -> None:
    assert not _same(KNOWN.replace(b'"x":"1"', b'"x":"1","y":"2"'))


def test_what_cannot_be_read_proves_nothing() -> None:
    assert _same(b"{")
