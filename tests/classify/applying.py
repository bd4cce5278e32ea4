"""Following the changes of a document, by what was written of them alone."""

import json
import re
from copy import deepcopy
from typing import Any

__all__ = ["applied", "parsed_path"]

STRING = r'"(?:[^"\\]|\\.)*"'
STEP = re.compile(
    rf"\.?(?P<word>[A-Za-z_]\w*)|\[(?P<quoted>{STRING})\]|\[(?P<place>\d+)\]"
    rf"|\[(?P<element>[A-Za-z_]\w*=(?:{STRING}|[^\]\",]+)"
    rf"(?:,[A-Za-z_]\w*=(?:{STRING}|[^\]\",]+))*)\]"
)
NAME = re.compile(rf"([A-Za-z_]\w*)=({STRING}|[^\",]+)")

Names = dict[str, Any]


def parsed_path(text: str) -> list[str | int | Names]:
    """Read a path: fields, places, and what names an element."""
    steps: list[str | int | Names] = []
    end = 0
    while end < len(text):
        found = STEP.match(text, end)
        assert found is not None, text[end:]
        end = found.end()
        if found["word"] is not None:
            steps.append(found["word"])
        elif found["quoted"] is not None:
            steps.append(json.loads(found["quoted"]))
        elif found["place"] is not None:
            steps.append(int(found["place"]))
        else:
            steps.append(names(found["element"]))
    return steps


def names(text: str) -> Names:
    """Read what names an element."""
    return {
        name: json.loads(value)
        if value.startswith('"') or value.lstrip("-").isdigit()
        else value
        for name, value in NAME.findall(text)
    }


def applied(old: Any, changed: list[dict[str, Any]]) -> Any:
    """Apply changes in their JSON form to a document."""
    root = {"": deepcopy(old)}
    for change in changed:
        *way, last = ["", *parsed_path(change["path"])]
        inner: Any = root
        for step in way:
            inner = inner[place_of(inner, step)]
        if change["change"] == "reordered":
            inner = inner[place_of(inner, last)]
            inner[:] = [
                inner[place_of(inner, names(text))] for text in change["new"]
            ]
        elif change["change"] == "removed":
            del inner[place_of(inner, last)]
        elif change["change"] == "added" and isinstance(last, dict):
            inner.append(change["new"])
        else:
            inner[place_of(inner, last)] = change["new"]
    return root[""]


def place_of(inner: Any, step: str | int | Names) -> str | int:
    if not isinstance(step, dict):
        return step
    (place,) = [
        place
        for place, element in enumerate(inner)
        if all(element[name] == value for name, value in step.items())
    ]
    return place
