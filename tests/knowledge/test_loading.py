"""Files of rules: what is refused, with its line, and who comes first."""

from pathlib import Path

import pytest

from recorder.knowledge import Decision, Fault, KnowledgeError, load, shipped
from recorder.knowledge.loading import read_rules

GOOD = """\
controller: {name: site}

conditions:
  - types: [CoolantLeak]
    when: "True"
    fault: thermal-fault
"""


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (GOOD.replace("when:", "wen:"), 5, "wen"),
        (GOOD.replace('"True"', "True"), 5, "str"),
        (GOOD.replace('"True"', '"Yes"'), 4, "Yes"),
        (GOOD.replace("thermal-fault", "warm"), 6, "warm"),
        (GOOD.replace("[CoolantLeak]", "7"), 4, "array"),
        (GOOD + "    fault: gpu-fault\n", 7, "line 6"),
        (GOOD + "conditions: []\n", 7, "line 3"),
        (GOOD.replace("conditions:", "condition:"), 3, "condition"),
        (
            GOOD + '  - types: [CoolantLeak]\n    when: "False"\n',
            7,
            "line 4",
        ),
        (GOOD + "events:\n  - reasons: [A]\n", 8, "reporters"),
        (GOOD + "events:\n  - reporters: [a]\n    reasons: [A]\n", 8, "role"),
        (GOOD + "  - [", 7, "rules"),
    ],
)
def test_a_mistake_is_refused_with_its_line(
    text: str, line: int, says: str
) -> None:
    with pytest.raises(KnowledgeError) as refused:
        read_rules(text, name="site.yaml")
    message = str(refused.value)
    assert '"site.yaml"' in message
    assert f"line {line}" in message
    assert says in message


def test_a_list_instead_of_rules_is_refused() -> None:
    with pytest.raises(KnowledgeError, match=r"site\.yaml"):
        read_rules("- 1\n", name="site.yaml")


def test_an_empty_file_has_no_rules() -> None:
    assert read_rules("# nothing yet\n", name="site.yaml").conditions == ()


def test_a_file_that_is_not_there_is_refused_by_its_name(
    tmp_path: Path,
) -> None:
    with pytest.raises(KnowledgeError, match=r"absent\.yaml"):
        load([tmp_path / "absent.yaml"])


def test_a_sites_rules_come_before_the_shipped_ones(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(GOOD.replace("CoolantLeak", "KernelDeadlock"))
    knowledge = load([str(path)])
    rule = knowledge.condition("KernelDeadlock")
    assert rule is not None
    assert rule.fault is Fault.THERMAL
    assert rule.actor is not None
    assert rule.actor.name == "site"
    known = shipped().condition("KernelDeadlock")
    assert known is not None
    assert known.fault is Fault.HUNG_KERNEL
    other = knowledge.condition("ReadonlyFilesystem")
    assert other is not None
    assert other.fault is Fault.DISK


def test_the_first_of_several_sites_wins(tmp_path: Path) -> None:
    paths = []
    for name, fault in (("a", "disk-fault"), ("b", "gpu-fault")):
        path = tmp_path / f"{name}.yaml"
        path.write_text(GOOD.replace("thermal-fault", fault))
        paths.append(path)
    rule = load(paths).condition("CoolantLeak")
    assert rule is not None
    assert rule.fault is Fault.DISK


def test_a_rule_without_a_name_for_who_acts_takes_the_files() -> None:
    knowledge = shipped()
    made = knowledge.made("janitor.dgxc.nvidia.com", "RebootNode")
    assert made is not None
    assert made.actor is not None
    assert (made.decision, made.actor.name) == (
        Decision.AUTO_REMEDIATION,
        "NVSentinel",
    )
