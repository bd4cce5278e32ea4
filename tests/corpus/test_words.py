"""The words of truths are those of answers."""

from enum import StrEnum
from typing import get_args

import pytest

from recorder.model import outcomes
from tests.corpus import truth

ENUMS = sorted(
    name
    for name, kind in vars(outcomes).items()
    if isinstance(kind, type)
    and issubclass(kind, StrEnum)
    and name in vars(truth)
)


def test_truths_have_words_of_their_own_for_these() -> None:
    assert ENUMS == [
        "ActorKind",
        "Confidence",
        "Decision",
        "Fault",
        "Happened",
        "HitBy",
        "Mode",
        "Outcome",
    ]


@pytest.mark.parametrize("name", ENUMS)
def test_a_list_of_words_is_the_one_of_answers(name: str) -> None:
    assert sorted(get_args(getattr(truth, name))) == sorted(
        getattr(outcomes, name)
    ), (
        f"{name} in tests/corpus/truth.py has other words than {name} in"
        " recorder/model/outcomes.py"
    )
