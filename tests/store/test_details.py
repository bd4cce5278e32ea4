"""Details of facts are stored so that they are read again, and short."""

import zlib

import pytest

from recorder.model.fact import FactKind
from recorder.store.codes import FACT_CODES
from recorder.store.details import DetailDecoder, DetailEncoder
from recorder.store.engine import make_engine
from recorder.store.shipped import shipped
from tests.support.details import detail_of
from tests.support.fact_rows import ask
from tests.support.postgres import Database

CONTENT = dict(shipped())["fact"]
LONG = (
    b'{"type":"Ready","old":{"status":"True","reason":"KubeletReady",'
    b'"message":null,"since":null},"new":null}'
)
CONDITION = FACT_CODES[FactKind.CONDITION_CHANGED]


def test_what_is_short_and_what_has_no_dictionary_is_kept_as_it_is() -> None:
    with_one = DetailEncoder({"fact": (0, CONTENT)})

    assert with_one.encode(b"{}") == b"\0{}"
    assert DetailEncoder({}).encode(LONG) == b"\0" + LONG


def test_the_documented_form_is_deflate_with_a_dictionary_by_its_number() -> (
    None
):
    stored = DetailEncoder({"fact": (4, CONTENT)}).encode(LONG)

    reader = zlib.decompressobj(-15, zdict=CONTENT)
    assert stored[0] == 5
    assert reader.decompress(stored[1:]) == LONG
    assert len(stored) < len(LONG) / 2


async def test_a_dictionary_that_is_new_is_read_when_a_fact_names_it(
    any_database: Database,
) -> None:
    await ask(
        any_database,
        "insert into recorder.dictionary values (7, 'a', $1)",
        CONTENT,
    )
    engine = make_engine(any_database.dsn("reader"))
    stored = DetailEncoder({"fact": (7, CONTENT)}).encode(LONG)
    decoder = DetailDecoder()
    try:
        with pytest.raises(KeyError):
            decoder.decode(stored, CONDITION)
        await decoder.know(engine, [b"\0{}", stored])
    finally:
        await engine.dispose()

    change = {
        "type": "Ready",
        "old": {"status": "True", "reason": "KubeletReady"},
    }
    assert decoder.decode(stored, CONDITION) == detail_of(
        FactKind.CONDITION_CHANGED, {**change, "new": None}
    )
