"""The modules of incidents; to import them is to know them."""

from importlib import import_module
from pathlib import Path

__all__ = ["CLASSES"]

SCENARIOS = Path(__file__).parents[1]
PARTS = Path(__file__).parent.name

CLASSES = [
    import_module(f"tests.scenarios.{path.parent.name}.{path.stem}")
    for path in sorted(SCENARIOS.glob("*/*.py"))
    if path.parent.name != PARTS
]
"""All that lie in the folders of causes, so that none can be forgotten."""
