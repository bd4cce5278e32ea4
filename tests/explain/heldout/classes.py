"""The modules of incidents; to import them is to know them."""

from importlib import import_module
from pkgutil import iter_modules

from tests.explain import heldout

__all__ = ["CLASSES"]

CLASSES = [
    import_module(f"{heldout.__name__}.{module.name}")
    for module in iter_modules(heldout.__path__)
    if module.name != "classes"
]
"""All that lie there, so that none can be forgotten; parts are among them."""
