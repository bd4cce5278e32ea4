"""Builds the page from its modules and styles.

``make page`` writes ``page.js``, the parts that it loads on demand, and
``page.css``, which are committed: installing needs no build tool. Modules are
put in the order of their imports, each in a function of its own. Comments and
indentation are left out; the code is not minified, so that the browser's tools
show it as it is written.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

__all__ = [
    "ASSETS",
    "MAIN",
    "MODULES",
    "SCRIPT",
    "SOURCES",
    "STATIC",
    "STYLE",
    "STYLES",
    "VENDOR",
    "scripts",
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
"""In the order in which they are served: later ones override."""

MAIN = SOURCES / "main.js"

SCRIPT = ASSETS / "page.js"
STYLE = ASSETS / "page.css"

_IMPORT = re.compile(
    r"^import (\{[^}]*\}|\* as \w+|\w+) from '([^']+)';\n", re.MULTILINE
)
_DEMANDED = re.compile(r"=> import\('([^']+)'\)")
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
_INDENT = re.compile(r"^ +", re.MULTILINE)
_VENDOR = "/vendor/"


def scripts() -> dict[Path, str]:
    """Return the served scripts by path: the first, and parts on demand."""
    texts = {path: path.read_text() for path in MODULES}
    parts = sorted({one for p, t in texts.items() for one in _demanded(p, t)})
    reached = {part: _reached(part, texts) for part in parts}
    several = Counter(one for found in reached.values() for one in found)
    first = _reached(MAIN, texts) | {
        path for path, times in several.items() if times > 1
    }
    foreign: list[str] = []
    served = {
        ASSETS / part.name: _part(part, reached[part] - first, first, texts)
        for part in parts
    }
    modules = [_module(one, texts, foreign) for one in _ordered(first, texts)]
    text = "".join([*foreign, *modules])
    for part in parts:
        shared = ", ".join(_shared(reached[part] - first, first, texts))
        demanded = f"import('./views/{part.name}')"
        loaded = f"import('./{part.name}').then((it) => it.default("
        text = text.replace(demanded, f"{loaded}{{ {shared} }}))")
    return {SCRIPT: text, **served}


def _part(
    part: Path,
    own: Collection[Path],
    first: Collection[Path],
    texts: Mapping[Path, str],
) -> str:
    """Return modules as a function of the modules of the first script."""
    modules = "".join(_module(one, texts, []) for one in _ordered(own, texts))
    shared = ", ".join(_shared(own, first, texts))
    return (
        f"export default ({{ {shared} }}) => {{\n"
        f"{modules}return {_name(part)};\n}};\n"
    )


def style() -> str:
    """Return all style sheets as one."""
    text = "".join(path.read_text() for path in STYLES)
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).strip()
    return _BLANK.sub("\n", _INDENT.sub("", plain)) + "\n"


def _needs(path: Path, text: str) -> list[Path]:
    return [
        (path.parent / name).resolve()
        for _, name in _IMPORT.findall(text)
        if _VENDOR not in name
    ]


def _reached(first: Path, texts: Mapping[Path, str]) -> set[Path]:
    found: set[Path] = set()
    waiting = [first]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _needs(path, texts[path])
    return found


def _ordered(paths: Collection[Path], texts: Mapping[Path, str]) -> list[Path]:
    """Return modules in an order in which each follows its imports."""
    needs = {
        path: [one for one in _needs(path, texts[path]) if one in paths]
        for path in sorted(paths)
    }
    return list(TopologicalSorter(needs).static_order())


def _shared(
    own: Collection[Path],
    first: Collection[Path],
    texts: Mapping[Path, str],
) -> list[str]:
    """Return the names of the modules that a part imports from the first."""
    needed = {need for path in own for need in _needs(path, texts[path])}
    return sorted(_name(path) for path in needed if path in first)


def _demanded(path: Path, text: str) -> list[Path]:
    return [(path.parent / name).resolve() for name in _DEMANDED.findall(text)]


def _module(path: Path, texts: Mapping[Path, str], foreign: list[str]) -> str:
    """Return one module as a function that returns its exports."""
    text = texts[path]

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
    text = _BLANK.sub("\n", _INDENT.sub("", _EXPORT.sub("", text))).strip()
    given = f"return {{ {', '.join(exported)} }};\n" if exported else ""
    return f"const {_name(path)} = (() => {{\n{text}\n{given}}})();\n"


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return f"in_{'_'.join(parts)}"


if __name__ == "__main__":
    for path, text in scripts().items():
        path.write_text(text)
    STYLE.write_text(style())
