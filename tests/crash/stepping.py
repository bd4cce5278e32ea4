"""Every step of an event loop as a failpoint.

A task runs from one await to the next. Before each of these steps its place
is passed: the innermost line of the recorder's own code that waits. What a
step does in memory dies with the process either way, so between the steps is
where a death can differ; the writes within one are in `statements`.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Coroutine, Generator
from pathlib import Path
from types import AsyncGeneratorType, CodeType, FrameType
from typing import Any

import recorder
from tests.crash.failpoints import Failpoints

__all__ = ["place_of", "step_factory"]

ROOT = str(Path(recorder.__file__).parent)

FRAMES = ("cr_frame", "gi_frame", "ag_frame")
WAITS = ("cr_await", "gi_yieldfrom", "ag_await")

_names: dict[CodeType, str] = {}


def place_of(coroutine: object) -> str | None:
    """Name the innermost line of the recorder at which a coroutine waits.

    With the line of another module from which it came there: a request of a
    list and one of a watch wait at the same place, and are not the same.
    """
    lines: list[tuple[str, str]] = []
    waits: object | None = coroutine
    while waits is not None:
        frame = _first(waits, FRAMES)
        if isinstance(frame, FrameType):
            code = frame.f_code
            name = _names.get(code)
            if name is None:
                name = _names[code] = _name(code)
            module, _, function = name.partition(" ")
            if name:
                lines.append((module, f"{function}:{frame.f_lineno}"))
        waits = _first(waits, WAITS) or _generator(waits)
    if not lines:
        return None
    module, line = lines[-1]
    for other, caller in reversed(lines):
        if other != module:
            return f"{module} {line} < {other} {caller}"
    return f"{module} {line}"


def _first(thing: object, names: tuple[str, ...]) -> object | None:
    for name in names:
        found = getattr(thing, name, None)
        if found is not None:
            return found  # type: ignore[no-any-return]
    return None


def _generator(waits: object) -> object | None:
    """Return the asynchronous generator that one of its steps belongs to."""
    if type(waits).__name__ != "async_generator_asend":
        return None
    for thing in gc.get_referents(waits):
        if isinstance(thing, AsyncGeneratorType):
            return thing
    return None


def _name(code: CodeType) -> str:
    if not code.co_filename.startswith(ROOT):
        return ""
    module = code.co_filename.removeprefix(ROOT + "/").removesuffix(".py")
    name = code.co_qualname.replace(".<locals>", "")
    return f"{module.replace('/', '.')} {name}"


class _Steps(Coroutine[Any, Any, Any]):
    """A coroutine that passes its place before every step."""

    def __init__(
        self, coroutine: Coroutine[Any, Any, Any], failpoints: Failpoints
    ) -> None:
        self._coroutine = coroutine
        self._failpoints = failpoints
        self.__name__ = getattr(coroutine, "__name__", "")
        self.__qualname__ = getattr(coroutine, "__qualname__", "")

    def send(self, value: Any, /) -> Any:
        self._pass_by("")
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        self._pass_by(" interrupted")
        return self._coroutine.throw(*error)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()

    def _pass_by(self, how: str) -> None:
        place = place_of(self._coroutine)
        if place is not None:
            self._failpoints.pass_by(f"{place}{how}")


def step_factory(
    failpoints: Failpoints,
) -> Callable[..., asyncio.Task[Any]]:
    """Return a task factory for an event loop; see `_Steps`."""

    def make(
        loop: asyncio.AbstractEventLoop, waits: Awaitable[Any], **more: Any
    ) -> asyncio.Task[Any]:
        assert isinstance(waits, Coroutine)
        return asyncio.Task(_Steps(waits, failpoints), loop=loop, **more)

    return make
