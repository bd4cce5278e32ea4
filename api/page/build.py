"""The build of the page: what is served, of its modules and styles.

``make page`` writes ``page.js`` and ``page.css``, which are
committed: who installs the page needs no tool. Modules are put in the order
of their imports, each in a function of its own, and comments are left out;
the code stays as it is written, so that the browser's tools show it.
"""

import re
from graphlib import TopologicalSorter
from pathlib import Path

__all__ = [
    "ASSETS",
    "MODULES",
    "SCRIPT",
    "SOURCES",
    "STATIC",
    "STYLE",
    "STYLES",
    "VENDOR",
    "script",
    "style",
]

SOURCES = Path(__file__).parent
STATIC = SOURCES.with_name("static")
ASSETS = STATIC / "assets"
VENDOR = ASSETS / "vendor"
MODULES = sorted(SOURCES.rglob("*.js"))
STYLES = [
    SOURCES / "style" / f"{name}.css"
    for name in ("ground", "page", "views", "timeline", "print")
]
"""In the order in which they are served: later ones win."""

SCRIPT = ASSETS / "page.js"
STYLE = ASSETS / "page.css"

_IMPORT = re.compile(
    r"^import (\{[^}]*\}|\* as \w+|\w+) from '([^']+)';\n", re.MULTILINE
)
_EXPORT = re.compile(
    r"^export (?=(?:async )?(?:const|class|function))", re.MULTILINE
)
_EXPORTED = re.compile(
    r"^export (?:async )?(?:const|class|function) (\w+)|^export \{([^}]*)\};",
    re.MULTILINE,
)
_COMMENTS = (
    re.compile(r"^ *//.*\n", re.MULTILINE),
    re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL),
    re.compile(r"/\*\* @(?:(?!\*/).)*\*/ ?", re.DOTALL),
)
_BLANK = re.compile(r"\n{2,}")
_VENDOR = "/vendor/"


def script() -> str:
    """Return all modules as one."""
    texts = {path: path.read_text() for path in MODULES}
    order = TopologicalSorter(
        {path: _needs(path, text) for path, text in texts.items()}
    ).static_order()
    foreign: list[str] = []
    modules = [_module(path, texts[path], foreign) for path in order]
    return "".join([*foreign, *modules])


def style() -> str:
    """Return all style sheets as one."""
    text = "".join(path.read_text() for path in STYLES)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).strip() + "\n"


def _needs(path: Path, text: str) -> list[Path]:
    return [
        (path.parent / name).resolve()
        for _, name in _IMPORT.findall(text)
        if _VENDOR not in name
    ]


def _module(path: Path, text: str, foreign: list[str]) -> str:
    """Return one module as a function that gives what it exports."""

    def imported(found: re.Match[str]) -> str:
        what, name = found.groups()
        if _VENDOR in name:
            place = name[name.index(_VENDOR) :]
            foreign.append(f"import {what} from '.{place}';\n")
            return ""
        source = _name((path.parent / name).resolve())
        return f"const {what.removeprefix('* as ')} = {source};\n"

    exported = [
        name.strip()
        for one, several in _EXPORTED.findall(text)
        for name in (one or several).split(",")
    ]
    for comment in _COMMENTS:
        text = comment.sub("", text)
    text = _IMPORT.sub(imported, text)
    text = re.sub(r"^export \{[^}]*\};\n", "", text, flags=re.MULTILINE)
    text = _BLANK.sub("\n", _EXPORT.sub("", text)).strip()
    given = f"return {{ {', '.join(exported)} }};\n" if exported else ""
    return f"const {_name(path)} = (() => {{\n{text}\n{given}}})();\n"


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return f"in_{'_'.join(parts)}"


if __name__ == "__main__":
    SCRIPT.write_text(script())
    STYLE.write_text(style())
