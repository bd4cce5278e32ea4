"""What one run of the tests takes of all variations."""

from tests.support.sampling import ALL, HOW_TO_REPEAT, SEED, VARIABLE, sampled

EVERY = range(1000)


def test_a_seed_is_one_sample_and_another_seed_another() -> None:
    one = sampled("family", EVERY, 20, seed="one")

    assert one == sampled("family", EVERY, 20, seed="one")
    assert one == sorted(set(one))
    assert len(one) == 20
    assert one != sampled("family", EVERY, 20, seed="another")
    assert one != sampled("other family", EVERY, 20, seed="one")


def test_all_may_be_asked_for_and_few_are_taken_whole() -> None:
    assert sampled("family", EVERY, 20, seed=ALL) == [*EVERY]
    assert sampled("family", [1, 2], 20, seed="one") == [1, 2]


def test_the_first_lines_show_how_to_repeat_the_run() -> None:
    assert HOW_TO_REPEAT.endswith(f"{VARIABLE}={SEED}")
    assert SEED
