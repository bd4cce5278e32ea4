"""A small run, each commit another half of it, and what keeps it honest."""

import json
import tracemalloc

import pytest

from recorder.sources.watch.splitter import Oversized, Splitter
from tests.fuzz.checks import check_masked
from tests.fuzz.oracle import must_not_show, shown, untouched
from tests.fuzz.running import TARGETS, made, run, target_of
from tests.support.sampling import sampled

SEED = 20_261_121
INPUTS = 20_000
RUNS = 4
CANARY = "cAnArY0123456789ab"
BASE64 = "Y0FuQXJZMDEyMzQ1Njc4OWFi"


@pytest.mark.parametrize("part", sampled("fuzz", range(RUNS), RUNS // 2))
def test_mutated_inputs_break_no_rule(part: int) -> None:
    tally = run(SEED, range(part, INPUTS, RUNS))

    assert [failure.report for failure in tally.failures] == []
    assert tally.inputs.total() == INPUTS // RUNS


def test_an_input_can_be_made_again_from_its_number() -> None:
    numbers = range(60)

    assert {target_of(number) for number in numbers} == TARGETS.keys()
    for number in numbers:
        first, chance = made(SEED, number)
        again, other = made(SEED, number)
        assert first == again
        assert chance.random() == other.random()


@pytest.mark.parametrize(
    ("text", "demanded"),
    [
        ('{"env":[{"name":"HF_TOKEN","value":"%s"}]}', True),
        ('{"\\u0065nv":[[{"value":"%s","name":"HF_TOKEN"}]]}', True),
        ('{"env":[{"name":"MODE","value":"%s"}]}', False),
        ('{"env":[{"name":"HF_TOKEN","value":"%s"}],"a":"%s"}', False),
        ('{"data":{"a":"%s"},"kind":"Secret"}', True),
        ('{"data":{"a":"%s"},"kind":"ConfigMap"}', False),
        ('{"kind":"SecretList","items":[{"data":{"a":["%s"]}}]}', True),
        ('{"kind":"Secret","data":{"%s":"a"}}', False),
        ('{"env":[{"name":"HF_TOKEN","value":"%s"}', False),
    ],
)
def test_the_oracle_knows_the_places_of_secrets(
    text: str, *, demanded: bool
) -> None:
    for value in (CANARY, BASE64):
        raw = text.replace("%s", value)
        packed = json.dumps({"a": json.dumps([raw])}).encode()

        for written in (raw.encode(), packed):
            found = must_not_show(written, None, "any")
            assert found == ({CANARY} if demanded else set())


@pytest.mark.parametrize(
    "spelled",
    [
        CANARY,
        BASE64,
        CANARY.replace("n", "\\u006e"),
        CANARY.replace("n", "\\\\u006E"),
        "".join(f"\\u{ord(letter):04x}" for letter in CANARY),
    ],
)
def test_the_oracle_sees_a_canary_however_it_is_spelled(spelled: str) -> None:
    assert shown(CANARY, f'{{"a":"{spelled}"}}'.encode())
    assert not shown(CANARY, b'{"a":"redacted"}')


def test_the_oracle_sees_what_else_was_changed() -> None:
    raw = b'{"a":"secret","b":[1,2]}'

    assert untouched(raw, b'{"a":"redacted","b":[1,2]}')
    assert not untouched(raw, b'{"a":"redacted","b":[1,3]}')
    assert not untouched(raw, b'{"a":"redacted","b":[1,2]} ')
    assert not untouched(raw, b'{"c":"redacted","b":[1,2]}')


def test_a_head_may_keep_a_canary_only_where_names_are() -> None:
    torn = f'{{"name":"{CANARY}","value":"{CANARY}'.encode()

    check_masked(f'{{"name":"{CANARY}","value":"redacted'.encode(), torn)
    with pytest.raises(AssertionError):
        check_masked(torn, torn)


def test_an_endless_frame_takes_no_more_memory_than_its_bound() -> None:
    bound, portion = 1 << 20, b"x" * (64 << 10)
    splitter = Splitter(frame_bytes_max=bound, head_bytes=4_096)

    tracemalloc.start()
    for _ in range(64 * bound // len(portion)):
        assert not list(splitter.feed(portion))
    [line] = splitter.feed(b"\n")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert isinstance(line, Oversized)
    assert line.length == 64 * bound
    # Once in its portions, and once more while they are joined.
    assert peak < 3 * bound + len(portion)
