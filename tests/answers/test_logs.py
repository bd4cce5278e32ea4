"""Which log is meant, when it is not named exactly."""

import pytest

from recorder.answers.logs import AmbiguousLogError, choose_log
from recorder.facts.coverage.ports import Log
from recorder.model.errors import NotFoundError


def a_log(number: int, name: str, *, uid: str = "", kind: str = "live") -> Log:
    return Log(
        id=number,
        kind=kind,
        cluster_name=name,
        cluster_uid=uid or f"uid-{number}",
        kubernetes="v1.36.3",
        size=0,
        recorded_at=None,
        holder=None,
    )


PROD = a_log(1, "prod")
STAGING = a_log(2, "staging")
TAPE_OF_PROD = a_log(3, "prod", uid="uid-1", kind="tape")
TAPE = a_log(4, "incident", kind="tape")
ALL = [PROD, STAGING, TAPE_OF_PROD, TAPE]


def chosen(
    *logs: Log,
    number: int | None = None,
    cluster: str | None = None,
    context: str | None = None,
) -> int:
    return choose_log(
        logs, number=number, cluster=cluster, context=lambda: context
    ).id


def test_the_only_log_is_meant() -> None:
    assert chosen(TAPE) == 4


def test_a_number_is_exact() -> None:
    assert chosen(*ALL, number=3, cluster="staging") == 3
    with pytest.raises(NotFoundError, match="there is no log 9; there are 1"):
        chosen(*ALL, number=9)


def test_a_cluster_is_found_by_name_or_uid_live_before_tapes() -> None:
    assert chosen(*ALL, cluster="prod") == 1
    assert chosen(*ALL, cluster="uid-1") == 1
    assert chosen(*ALL, cluster="incident") == 4
    assert chosen(TAPE_OF_PROD, STAGING, cluster="prod") == 3


def test_the_current_context_decides_between_live_logs() -> None:
    assert chosen(*ALL, context="staging") == 2
    for context in (None, "other", "incident"):
        with pytest.raises(AmbiguousLogError, match="no cluster or log is"):
            chosen(*ALL, context=context)


def test_without_a_log_of_the_context_the_only_live_log_is_meant() -> None:
    for context in (None, "other", "incident"):
        assert chosen(TAPE_OF_PROD, STAGING, TAPE, context=context) == 2
    with pytest.raises(AmbiguousLogError) as raised:
        chosen(TAPE_OF_PROD, TAPE)
    assert raised.value.table.splitlines() == [
        "LOG   CLUSTER    KIND   LAST",
        "3     prod       tape",
        "4     incident   tape",
    ]


def test_the_context_is_not_asked_when_it_does_not_matter() -> None:
    def never() -> str | None:
        pytest.fail("asked")

    assert choose_log([PROD], number=None, cluster=None, context=never) is PROD


def test_two_of_one_name_differ_by_number() -> None:
    logs = [TAPE, a_log(5, "incident", kind="tape")]

    with pytest.raises(AmbiguousLogError) as unnamed:
        chosen(*logs)
    with pytest.raises(AmbiguousLogError) as raised:
        chosen(*logs, cluster="incident")

    advice = "choose one with --log ID"
    assert [unnamed.value.advice, raised.value.advice] == [advice, advice]
    assert '5 (tape "incident")' in raised.value.listed
    assert raised.value.exit_status == 2


def test_an_unknown_cluster_names_what_is_near_or_there() -> None:
    with pytest.raises(NotFoundError, match='did you mean "staging"'):
        chosen(*ALL, cluster="stageing")
    with pytest.raises(
        NotFoundError, match=r'there are 1 .live "prod"'
    ) as raised:
        chosen(*ALL, cluster="xyz")

    assert raised.value.exit_status == 5
