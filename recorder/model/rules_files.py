"""Reading rules files that people write, in YAML, with the line of a fault.

A file with a fault is rejected whole, with the line: a rule that never matches
because of a misspelled key would be worse than none. This module does not know
what the rules mean.
"""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

import yaml

from recorder.model.errors import ConfigError
from recorder.model.rules_parts import Fault, read_parts

BYTES_MAX = 1 << 20
"""Of a file; the largest that we ship has a few thousand."""

NODES_MAX = 100_000
"""Of a document with its aliases expanded: more than a handwritten file has.
"""

CANNOT_BE = (ValueError, LookupError, AttributeError, TypeError)
"""What the library raises for some values, such as a date that does not exist.
"""

FAULTS_SHOWN = 10

FAST: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Five times as fast, but without a limit to its recursion."""

Read = TypeVar("Read")


class RulesFile:
    """One rules file, with its name for messages."""

    def __init__(
        self,
        name: str,
        refusing: type[ConfigError],
        *,
        ours: bool = False,
        holds: str = "rules",
    ) -> None:
        """Take the name and contents for messages, and the error to raise."""
        self.name = name
        self._holds = holds
        self._loader = FAST if ours else yaml.SafeLoader
        self._refusing = refusing
        self._root: yaml.Node | None = None

    def text(self) -> str:
        """Read the file, which any user may have put there.

        A pipe would never end.

        Raises:
            ConfigError: it cannot be read.
        """
        path = Path(self.name)
        try:
            found = path.stat()
            if not S_ISREG(found.st_mode):
                msg = "it is not a regular file"
                raise self._unreadable(msg)
            if found.st_size > BYTES_MAX:
                why = f"it has more than {BYTES_MAX:,} bytes"
                raise self._unreadable(why)
            content = path.read_bytes()
        except OSError as exc:
            raise self._unreadable(exc.strerror or str(exc)) from exc
        try:
            return content.decode()
        except UnicodeDecodeError as exc:
            line = content.count(b"\n", 0, exc.start) + 1
            msg = "it is not UTF-8"
            raise self._unreadable(msg, line=line) from exc

    def read(self, text: str, kind: type[Read]) -> Read:
        """Parse its text as rules.

        Raises:
            ConfigError: it is wrong; the message has its name and line.
        """
        found, faults = read_parts(self._made(text) or {}, kind)
        if found is None or faults:
            raise self.faults(faults)
        return found

    def line_at(self, steps: Sequence[str | int]) -> int:
        """Return the line of a part that is reached by keys and numbers."""
        return _line_at(self._root, steps)

    def fault(self, steps: Sequence[str | int], why: str) -> ConfigError:
        """Return the error of a part that is wrong."""
        return self.faults([Fault(steps, why)])

    def faults(self, found: Sequence[Fault]) -> ConfigError:
        """Return the error of all parts that are wrong, in their order."""
        lines_and_reasons = sorted(
            (self.line_at(one.steps), one.why) for one in found
        )
        return self._faulty(*lines_and_reasons)

    def _faulty(self, *lines_and_reasons: tuple[int, str]) -> ConfigError:
        lines = [
            f"line {line}: {why}"
            for line, why in lines_and_reasons[:FAULTS_SHOWN]
        ]
        if left := len(lines_and_reasons) - len(lines):
            lines.append(f"and {left} more")
        found = "; ".join(lines)
        msg = f'cannot use the {self._holds} in "{self.name}", {found}'
        return self._refusing(msg)

    def _unreadable(self, why: str, *, line: int | None = None) -> ConfigError:
        where = "" if line is None else f", line {line}"
        msg = f'cannot read the {self._holds} in "{self.name}"{where}: {why}'
        return self._refusing(msg)

    def _made(self, text: str) -> Any:
        """Return the value of a document.

        Few lines of YAML can expand to billions of values, or contain
        themselves: the expanded size is bounded before anything is built.
        """
        try:
            loader = self._loader(text)
            root = self._root = loader.get_single_node()
            if root is None:
                return None
            if _written_out(root, {}) > NODES_MAX:
                msg = "its aliases expand to too many values"
                raise self._unreadable(msg)
            self._refuse_duplicates(root)
            return loader.construct_document(root)
        except yaml.MarkedYAMLError as exc:
            mark = exc.problem_mark or exc.context_mark
            line = None if mark is None else mark.line + 1
            why = exc.problem or str(exc)
            raise self._unreadable(why, line=line) from exc
        except yaml.reader.ReaderError as exc:
            line = text.count("\n", 0, exc.position) + 1
            raise self._unreadable(exc.reason, line=line) from exc
        except RecursionError as exc:
            msg = "it is nested too deep"
            raise self._unreadable(msg) from exc
        except CANNOT_BE as exc:
            why = f"it has an invalid value: {exc}"
            raise self._unreadable(why) from exc

    def _refuse_duplicates(self, node: yaml.Node | None) -> None:
        """YAML lets the last of two equal keys win; here it is a mistake."""
        if isinstance(node, yaml.MappingNode):
            known: dict[str, int] = {}
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                line = key.start_mark.line + 1
                if key.value in known:
                    why = (
                        f'duplicate key "{key.value}", first in line'
                        f" {known[key.value]}"
                    )
                    raise self._faulty((line, why))
                known[key.value] = line
                self._refuse_duplicates(value)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self._refuse_duplicates(item)


def shipped_rows(package: str, name: str, kind: type[Read]) -> Read:
    """Read a file that comes with a package."""
    text = files(package).joinpath(name).read_text()
    return RulesFile(name, ConfigError, ours=True).read(text, kind)


def _written_out(node: yaml.Node, known: dict[int, int]) -> int:
    """Count the parts of a document with all its aliases expanded."""
    if id(node) not in known:
        known[id(node)] = NODES_MAX + 1  # in case it contains itself
        parts: Sequence[yaml.Node] = ()
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            parts = node.value
        known[id(node)] = 1 + sum(_written_out(p, known) for p in parts)
    return known[id(node)]


def _line_at(node: yaml.Node | None, steps: Sequence[str | int]) -> int:
    line = 1
    for step in steps:
        found: Any = None
        if isinstance(node, yaml.MappingNode):
            pair = next((p for p in node.value if p[0].value == step), None)
            if pair is not None:
                line, found = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            found = node.value[step]
            line = found.start_mark.line + 1
        if found is None:
            break
        node = found
    return line
