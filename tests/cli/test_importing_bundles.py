"""Bundles that real tools made of a real cluster, around a crash.

``make scenarios`` collects them anew; ``make test`` imports recorded ones.
"""

import asyncio
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Recorder
from tests.dumps.collecting import CRASHED, bundles_of_a_crash
from tests.support.sampling import ALL, SEED

RECORDED = Path(__file__).parents[1] / "dumps/cases/t01-collected"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path / "data"))


def check(recorder: Recorder, *bundles: Path) -> None:
    """Check the answer: a reboot, of a cause that no object shows.

    Nothing is kept.
    """
    answer = recorder("import", "--explain", *map(str, bundles))

    assert answer.status == 4
    assert not Path(os.environ["RECORDER_DATA_DIR"]).exists()
    assert "a support bundle of troubleshoot.sh" in answer.err
    assert "kubectl cluster-info dump" in answer.err
    # An empty list is nothing that was left out.
    assert "PodList" not in answer.err
    said = " ".join(answer.out.split())
    assert said.startswith(f"{CRASHED} rebooted at ")
    assert said.count("; cause unknown: nothing recorded explains it.") == 1
    assert said.count(" happened ") == 1


def test_recorded_bundles_are_answered_right(recorder: Recorder) -> None:
    check(recorder, *RECORDED.iterdir())


@pytest.mark.skipif(SEED != ALL, reason="make scenarios collects a bundle")
@pytest.mark.timeout(2400)
def test_a_bundles_of_a_crash_is_answered_right(
    recorder: Recorder, tmp_path: Path
) -> None:
    check(recorder, *asyncio.run(bundles_of_a_crash(tmp_path)))
