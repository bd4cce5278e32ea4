"""The files of the page: as they are written, and as they are served."""

from pathlib import Path

__all__ = ["ASSETS", "MODULES", "SOURCES", "STATIC", "STYLES", "VENDOR"]

_ROOT = Path(__file__).parents[2]
SOURCES = _ROOT / "api" / "page"
STATIC = _ROOT / "api" / "static"
ASSETS = STATIC / "assets"
VENDOR = ASSETS / "vendor"
MODULES = sorted(SOURCES.rglob("*.js"))
STYLES = [
    SOURCES / "style" / f"{name}.css"
    for name in ("ground", "page", "views", "timeline", "print")
]
"""In the order in which they are served: later ones win."""
