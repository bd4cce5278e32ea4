"""Builds the page from its modules and styles.

``make page`` writes ``page.js``, the parts that it loads on demand, and
``page.css``, which are committed: installing needs no build tool. Modules are
put in the order of their imports, each in a function of its own. Comments and
indentation are left out; the code is not minified, so that the browser's tools
show it as it is written.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

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
_JOINED = """\
const joined = async (files, name) => (await Promise.all(files))
.reduce((all, one) => ({ ...all, ...one.default(all) }), shared)[name];
"""
"""Puts together a part: each script may use those before it."""

COMMON = 5
"""Parts: a module that so many share is in the first script."""

_BLANK = re.compile(r"\n{2,}")
_INDENT = re.compile(r"^ +", re.MULTILINE)
_VENDOR = "/vendor/"


def scripts() -> dict[Path, str]:
    """Return the served scripts by path: the first, and parts on demand.

    Modules that several parts share, and the first script does not need, are
    in a script of their own, which is named after these parts; those of many
    parts are in the first one, which is compressed as a whole.
    """
    texts = {path: path.read_text() for path in MODULES}
    parts = sorted({one for p, t in texts.items() for one in _demanded(p, t)})
    reached = {part: _reached(part, texts) for part in parts}
    first = _reached(MAIN, texts)
    users_of = {
        path: tuple(part for part in parts if path in reached[part])
        for path in {*texts} - first
    }
    first |= {p for p, users in users_of.items() if len(users) >= COMMON}
    chunks: dict[tuple[Path, ...], set[Path]] = {}
    for path in sorted({*texts} - first):
        chunks.setdefault(users_of[path], set()).add(path)
    files = {users: _file(users) for users in chunks}
    foreign: list[str] = []
    modules = [_module(one, texts, foreign) for one in _ordered(first, texts)]
    needed = {
        need for path in {*texts} - first for need in _needs(path, texts[path])
    }
    shared = ", ".join(sorted(_name(path) for path in needed & first))
    given = f"const shared = {{ {shared} }};\n"
    text = "".join([*foreign, *modules, given, _JOINED])
    for part in parts:
        # What more parts share comes first: others import it.
        loaded = sorted(
            (users for users in chunks if part in users), key=len, reverse=True
        )
        imports = ", ".join(f"import('./{files[users]}')" for users in loaded)
        text = text.replace(
            f"import('./views/{part.name}')",
            f"joined([{imports}], '{_name(part)}')",
        )
    return {SCRIPT: text} | {
        ASSETS / files[users]: _chunk(own, texts)
        for users, own in chunks.items()
    }


def _file(users: Sequence[Path]) -> str:
    return f"{'-'.join(part.stem for part in users)}.js"


def _chunk(own: Collection[Path], texts: Mapping[Path, str]) -> str:
    """Return modules as a function of the modules that they import."""
    modules = "".join(_module(one, texts, []) for one in _ordered(own, texts))
    needed = {need for path in own for need in _needs(path, texts[path])}
    given = ", ".join(sorted(_name(path) for path in needed - {*own}))
    made = ", ".join(sorted(_name(path) for path in own))
    return (
        f"let made;\nexport default ({{ {given} }}) => made ??= (() => {{\n"
        f"{modules}return {{ {made} }};\n}})();\n"
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
    for path in {*ASSETS.glob("*.js")} - {*scripts()}:
        path.unlink()
    STYLE.write_text(style())
