"""JSONPath, as kubectl takes it."""

import pytest

from recorder.cli.jsonpath import JsonPathError, rendered

DOCUMENT = {
    "incidents": [
        {"id": "1/4", "cause": "gpu-fault", "nodes": ["a", "b"], "lost": 0.5},
        {"id": "1/9", "cause": "unrecorded", "nodes": ["c"], "lost": 0.0},
    ],
    "coverage": {"complete": True, "now": None},
}

SAID = {
    "{.incidents[*].id}": "1/4 1/9",
    ".incidents[*].id": "1/4 1/9",
    "{$.incidents[0].cause}": "gpu-fault",
    "{.incidents[-1:].id}": "1/9",
    "{.incidents[0].nodes}": '["a","b"]',
    "{.incidents[0]['nodes'][1]}": "b",
    '{.incidents[?(@.cause=="gpu-fault")].id}': "1/4",
    "{.incidents[?(@.cause!='gpu-fault')].id}": "1/9",
    "{..id}": "1/4 1/9",
    "{.coverage.complete}": "true",
    "complete: {.coverage.complete}": "complete: true",
    "{.nothing.here}": "",
    "{.incidents[7].id}": "",
    '{range .incidents[*]}{.id}{"\\t"}{.nodes[*]}{"\\n"}{end}': (
        "1/4\ta b\n1/9\tc\n"
    ),
    "{range .incidents[*]}{range .nodes[*]}<{@}>{end};{end}": "<a><b>;<c>;",
}


@pytest.mark.parametrize("template", SAID)
def test_a_template_says_what_kubectl_would(template: str) -> None:
    assert rendered(template, DOCUMENT) == SAID[template]


@pytest.mark.parametrize(
    "template",
    ["{.a", "{.incidents[x]}", "{range .incidents[*]}{.id}", "{.a b}", "}{"],
)
def test_what_is_not_understood_is_refused(template: str) -> None:
    with pytest.raises(JsonPathError, match="JSONPath"):
        rendered(template, DOCUMENT)
