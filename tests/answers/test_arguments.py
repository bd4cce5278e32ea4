"""What a question is asked with is described once, and read in one place."""

from datetime import UTC, datetime, timedelta

import pytest

from recorder.answers.arguments import Argument, Asking
from recorder.answers.registry import QUESTIONS
from recorder.model.errors import ConfigError
from recorder.model.outcomes import Cause
from recorder.model.window import TimeError, Window

NOW = datetime(2026, 11, 21, 4, tzinfo=UTC)


def spelled(argument: Argument) -> str:
    return f"--{argument.name}"


ASKING = Asking(now=NOW, window=Window.between, spelled=spelled)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_argument_is_offered_somewhere_under_a_name_of_its_own(
    name: str,
) -> None:
    arguments = QUESTIONS[name].arguments
    assert arguments
    assert len({one.name for one in arguments}) == len(arguments)
    for one in arguments:
        words = (one.option, one.graphql, one.agents)
        assert any(word is not None for word in words), one.name


def test_texts_become_values_of_the_question() -> None:
    asked = QUESTIONS["incidents"].read(
        {
            "causes": ["gpu-fault"],
            "node": "node/gpu-002",
            "since": "2h",
            "racks": (None, "r17"),
        },
        ASKING,
    )
    assert asked.window == Window(NOW - timedelta(hours=2), None)  # type: ignore[attr-defined]
    assert asked.wanted.causes == (Cause.GPU_FAULT,)  # type: ignore[attr-defined]
    assert asked.wanted.node == "gpu-002"  # type: ignore[attr-defined]
    assert asked.wanted.racks == (None, "r17")  # type: ignore[attr-defined]


def test_a_value_that_cannot_be_is_named_as_it_was_given() -> None:
    with pytest.raises(TimeError, match='--since "soon": it is not a time'):
        QUESTIONS["coverage"].read({"since": "soon"}, ASKING)
    with pytest.raises(ConfigError, match="no nodes selected"):
        QUESTIONS["impact"].read({}, ASKING)


def test_a_field_that_is_fixed_is_not_read() -> None:
    why = QUESTIONS["why"].read({"node": "pod/train/x"}, ASKING, node="n1")
    assert why.node == "n1"  # type: ignore[attr-defined]
