"""Threads that decode find every type described."""

from threading import Thread, get_ident

import msgspec

from recorder.model.decoding import prepare_decoding

DESCRIBED: list[int] = []
"""The threads in which the type was described."""


def described() -> type[int]:
    DESCRIBED.append(get_ident())
    return int


class Prepared(msgspec.Struct):
    """A type whose description is noticed."""

    number: "described()"  # type: ignore[valid-type]


def test_what_threads_convert_is_described_before() -> None:
    """Else two threads might describe it at once, which ends the process."""
    prepare_decoding()
    found: list[Prepared] = []

    def convert() -> None:
        found.append(msgspec.convert({"number": 1}, Prepared))

    thread = Thread(target=convert)
    thread.start()
    thread.join()

    assert [one.number for one in found] == [1]
    assert [get_ident()] == DESCRIBED
