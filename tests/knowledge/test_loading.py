"""Files of rules: errors with their lines, and precedence."""

import os
from pathlib import Path

import pytest

from recorder.explain.knowledge import KnowledgeError, load, shipped
from recorder.explain.knowledge.loading import read_rules
from recorder.model.outcomes import Decision, Fault
from recorder.model.rules_files import RulesFile

SITE = RulesFile("site.yaml", KnowledgeError)

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
        (GOOD.replace('"True"', "True"), 5, "expected text"),
        (GOOD.replace('"True"', '"Yes"'), 4, "Yes"),
        (GOOD.replace("thermal-fault", "warm"), 6, "warm"),
        (GOOD.replace("[CoolantLeak]", "7"), 4, "expected a list"),
        (GOOD + "    fault: gpu-fault\n", 7, "line 6"),
        (GOOD + "conditions: []\n", 7, "line 3"),
        (GOOD.replace("conditions:", "condition:"), 3, "condition"),
        (
            GOOD + '  - types: [CoolantLeak]\n    when: "False"\n',
            7,
            "line 4",
        ),
        (
            GOOD + "events:\n  - reasons: [A]\n    role: fault\n",
            8,
            "reporters",
        ),
        (GOOD + "events:\n  - reporters: [a]\n    reasons: [A]\n", 8, "role"),
        (GOOD + "  - [", 7, "rules"),
    ],
)
def test_a_mistake_is_refused_with_its_line(
    text: str, line: int, says: str
) -> None:
    with pytest.raises(KnowledgeError) as refused:
        read_rules(SITE, text)
    message = str(refused.value)
    assert '"site.yaml"' in message
    assert f"line {line}" in message
    assert says in message


def test_a_list_instead_of_rules_is_refused() -> None:
    with pytest.raises(KnowledgeError, match=r"site\.yaml"):
        read_rules(SITE, "- 1\n")


def test_an_empty_file_has_no_rules() -> None:
    assert read_rules(SITE, "# nothing yet\n").conditions == ()


def test_a_file_that_is_not_there_is_refused_by_its_name(
    tmp_path: Path,
) -> None:
    with pytest.raises(KnowledgeError, match=r"absent\.yaml"):
        load([tmp_path / "absent.yaml"])


def test_a_sites_rules_come_before_the_shipped_ones(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(GOOD.replace("CoolantLeak", "KernelDeadlock"))
    knowledge = load([str(path)])
    rule = knowledge.conditions.first("KernelDeadlock")
    assert rule is not None
    assert rule.fault is Fault.THERMAL
    assert rule.actor is not None
    assert rule.actor.name == "site"
    known = shipped().conditions.first("KernelDeadlock")
    assert known is not None
    assert known.fault is Fault.HUNG_KERNEL
    other = knowledge.conditions.first("ReadonlyFilesystem")
    assert other is not None
    assert other.fault is Fault.DISK


def test_the_first_of_several_sites_wins(tmp_path: Path) -> None:
    paths = []
    for name, fault in (("a", "disk-fault"), ("b", "gpu-fault")):
        path = tmp_path / f"{name}.yaml"
        path.write_text(GOOD.replace("thermal-fault", fault))
        paths.append(path)
    rule = load(paths).conditions.first("CoolantLeak")
    assert rule is not None
    assert rule.fault is Fault.DISK


def test_a_rule_without_a_name_for_who_acts_takes_the_files() -> None:
    knowledge = shipped()
    made = knowledge.objects.first(
        "RebootNode", groups="janitor.dgxc.nvidia.com"
    )
    assert made is not None
    assert made.actor is not None
    assert (made.decision, made.actor.name) == (
        Decision.AUTO_REMEDIATION,
        "NVSentinel",
    )


def nested(depth: int) -> str:
    layers = [
        f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]"
        for n in range(1, depth)
    ]
    return "\n".join(["l0: &l0 [a, a]", *layers])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (nested(12), "expand to too many values"),
        ("conditions: &a\n- *a\n", "expand to too many values"),
        ("[" * 20_000, "nested too deep"),
        ("conditions:\n\t- a\n", "line 2: found character"),
        ("conditions: []\n---\ntaints: []\n", "line 2: but found another"),
        ("taints: []\nlabels: !!python/name:os.system\n", "line 2: could"),
        ("taints: []\nlabels: \x07\n", "line 2: special characters"),
        ("conditions:\n- types: [2026-99-99]\n", "an invalid value"),
        ("labels: !!timestamp a\n", "an invalid value"),
        ("? [a]\n: b\n", "line 1: found unhashable key"),
        ("5\n", "line 1: the file: expected a mapping"),
    ],
)
def test_what_is_no_file_of_rules_is_refused_in_words(
    text: str, says: str
) -> None:
    with pytest.raises(KnowledgeError) as refused:
        read_rules(SITE, text)

    assert '"site.yaml"' in str(refused.value)
    assert says in str(refused.value)


def test_a_file_that_is_none_is_refused_and_not_waited_for(
    tmp_path: Path,
) -> None:
    pipe, large, latin = (tmp_path / n for n in ("pipe", "large", "latin"))
    os.mkfifo(pipe)
    large.write_text("#" * (1 << 20) + "\n")
    latin.write_bytes("taints: []\n# caf\xe9\n".encode("latin-1"))
    looped = tmp_path / "looped"
    looped.symlink_to(looped)
    refused = {
        pipe: "it is not a regular file",
        tmp_path: "it is not a regular file",
        Path("/dev/zero"): "it is not a regular file",
        large: "more than 1,048,576 bytes",
        latin: "line 2: it is not UTF-8",
        looped: "Too many levels of symbolic links",
        tmp_path / "none": "No such file or directory",
    }

    for file, says in refused.items():
        with pytest.raises(KnowledgeError) as error:
            load([file])
        assert f'"{file}"' in str(error.value)
        assert says in str(error.value)


def test_an_anchor_may_be_used_again() -> None:
    text = GOOD + '  - {types: [Hot], when: &yes "True"}\n'
    text += "  - {types: [Hotter], when: *yes}\n"

    rules = read_rules(SITE, text)

    assert [rule.when for rule in rules.conditions] == ["True"] * 3
