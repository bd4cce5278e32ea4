"""Where the source changes anything outside of itself, by its syntax tree.

A change is a call that makes, fills, moves, hands over or removes a file or a
folder, one that starts a process, and a statement that changes a database.
It is named by its module, the function or constant that it is in, and
what it does.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["ROOT", "changes_of"]

ROOT = Path(__file__).parents[2]

OF_PATHS = {
    "chmod", "hardlink_to", "lchmod", "mkdir", "rename", "rmdir",
    "symlink_to", "touch", "unlink", "write_bytes", "write_text",
}  # fmt: skip
"""Methods of a path, by whatever name it goes."""

OF_MODULES = {
    "os": {
        "chmod", "chown", "fchmod", "fchown", "ftruncate", "lchown", "link",
        "makedirs", "mkdir", "mkfifo", "posix_spawn", "pwrite", "remove",
        "removedirs", "rename", "renames", "replace", "rmdir", "symlink",
        "truncate", "unlink", "utime",
    },
    "shutil": {
        "chown", "copy", "copy2", "copyfile", "copyfileobj", "copymode",
        "copystat", "copytree", "make_archive", "move", "rmtree",
        "unpack_archive",
    },
    "tempfile": {
        "NamedTemporaryFile", "SpooledTemporaryFile", "TemporaryDirectory",
        "TemporaryFile", "mkdtemp", "mkstemp",
    },
    "subprocess": {"Popen", "call", "check_call", "check_output", "run"},
    "asyncio": {
        "create_subprocess_exec", "create_subprocess_shell",
        "start_unix_server",
    },
    "io": {"FileIO"},
    "multiprocessing": {"Process"},
}  # fmt: skip
CREATING = {"O_APPEND", "O_CREAT", "O_RDWR", "O_TRUNC", "O_WRONLY"}

STATEMENT = re.compile(
    r"\binsert\s+into\b|\bupdate\s+[\w.]+\s+(?:\w+\s+)?set\b"
    r"|\bdelete\s+from\b|\bmerge\s+into\b|\btruncate\s+(?:table\s+)?\w+\."
    r"|\b(?:nextval|setval|pg_notify|set_config|lo_\w+)\("
    r"|\bselect\s+recorder\.\w+\(|\bcopy\s+[\w.]+\s+(?:\(|from\b)"
    r"|\b(?:create|alter|drop)\s+(?:database|role|schema|table|index"
    r"|function|trigger|sequence|view|system)\b|\bcomment\s+on\b"
    r"|\b(?:grant|revoke)\s+\w+|\bsecurity\s+label\b",
    re.IGNORECASE,
)


def changes_of(package: str) -> set[str]:
    """Name every change that a package makes."""
    return {
        f"{path.relative_to(ROOT)} {place}: {what}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for place, what in _Changes().found(ast.parse(path.read_text()))
    }


class _Changes(ast.NodeVisitor):
    """Walks one module, and knows in which function it is."""

    def found(self, tree: ast.Module) -> list[tuple[str, str]]:
        self._place: list[str] = []
        self._names: dict[str, str] = {}
        """What a name stands for, where it was imported."""
        self._texts = {id(text) for text in _texts_for_readers(tree)}
        self._found: list[tuple[str, str]] = []
        self.visit(tree)
        return self._found

    def _add(self, what: str) -> None:
        self._found.append((".".join(self._place) or "-", what))

    def _within(self, name: str, node: ast.AST) -> None:
        self._place.append(name)
        self.generic_visit(node)
        self._place.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._within(node.name, node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._within(node.name, node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._within(node.name, node)

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id.strip("_").isupper():
            self._within(target.id, node)
        else:
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            self._names[name.asname or name.name] = name.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for name in node.names:
            self._names[name.asname or name.name] = (
                f"{node.module}.{name.name}"
            )

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and id(node) not in self._texts:
            self._statements(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        parts = [getattr(part, "value", "") for part in node.values]
        words = [part if isinstance(part, str) else "_" for part in parts]
        self._statements("".join(words))

    def _statements(self, text: str) -> None:
        for match in STATEMENT.finditer(text):
            self._add(" ".join(match[0].lower().split()))

    def visit_Call(self, node: ast.Call) -> None:
        what = self._change(node)
        if what is not None:
            self._add(what)
        self.generic_visit(node)

    def _change(self, call: ast.Call) -> str | None:
        module, _, name = self._called(call.func).rpartition(".")
        if name in OF_MODULES.get(module, ()):
            return f"{module}.{name}"
        is_method = isinstance(call.func, ast.Attribute)
        if is_method and name in OF_PATHS:
            return name
        if is_method and name == "copy_records_to_table":
            return f"copy {ast.unparse(call.args[0])}"
        if is_method and name == "replace" and _is_of_a_path(call):
            return name
        if name in {"open", "fdopen"} and _is_to_write(call, module):
            return name
        return None

    def _called(self, function: ast.expr) -> str:
        text = ast.unparse(function)
        first, dot, rest = text.partition(".")
        return self._names.get(first, first) + dot + rest


def _texts_for_readers(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield docstrings, of constants too: texts that are statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def _is_of_a_path(call: ast.Call) -> bool:
    """Exclude methods of strings and times, which take more arguments."""
    return len(call.args) == 1 and not call.keywords


def _is_to_write(call: ast.Call, module: str) -> bool:
    if module == "os" and ast.unparse(call.func).endswith(".open"):
        names = {
            node.attr
            for node in ast.walk(call)
            if isinstance(node, ast.Attribute)
        }
        return bool(names & CREATING)
    modes = [
        word.value
        for word in [*call.args, *(k.value for k in call.keywords)]
        if isinstance(word, ast.Constant) and isinstance(word.value, str)
    ]
    return any(re.fullmatch(r"[rbt]*[wax+][rwaxbt+]*", mode) for mode in modes)
