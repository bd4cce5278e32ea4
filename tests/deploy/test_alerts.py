"""The alert rules: each fires and is quiet, and has a page."""

import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.docs.tables import metric_names
from tests.support.programs import found

TREE = Path(__file__).parents[2]
FOLDER = TREE / "deploy/prometheus"
RUNBOOKS = TREE / "docs/runbooks.md"


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((FOLDER / "rules.yaml").read_text())["groups"]
    found_rules: list[dict[str, Any]] = group["rules"]
    return found_rules


def promtool(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [found("promtool"), *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=FOLDER,
    )


def test_every_alert_fires_and_is_quiet() -> None:
    done = promtool("test", "rules", "rules.test.yaml")

    assert done.returncode == 0, done.stdout + done.stderr
    tested = yaml.safe_load((FOLDER / "rules.test.yaml").read_text())["tests"]
    cases = [
        (case["alertname"], bool(case.get("exp_alerts")))
        for test in tested
        for case in test["alert_rule_test"]
    ]
    for rule in rules():
        assert (rule["alert"], True) in cases, rule["alert"]
        assert (rule["alert"], False) in cases, rule["alert"]


def test_every_metric_of_a_rule_is_one_that_is_scraped() -> None:
    known = {*metric_names(), "recorder_commit_seconds_bucket"}
    for rule in rules():
        used = set(re.findall(r"\brecorder_\w+", rule["expr"]))
        assert used, rule["alert"]
        assert used <= known, rule["alert"]


def test_every_alert_has_a_page_and_every_page_an_alert() -> None:
    sections = re.findall(r"(?m)^## (\w+)$", RUNBOOKS.read_text())
    assert sections == [rule["alert"] for rule in rules()]
    for rule in rules():
        url = rule["annotations"]["runbook_url"]
        assert url == f"docs/runbooks.md#{rule['alert'].lower()}"
