"""Commands that ask a question of the registry: its arguments are options.

The arguments are read when a command is run or its help is shown, not
when commands are listed: the module of a question takes a while to import.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from recorder.cli import completing
from recorder.cli.asking import (
    INCOMPLETE,
    Readings,
    judge,
    judge_all,
    now,
    open_reading,
    open_readings,
    wait_for,
)
from recorder.cli.given import all_of, parameters
from recorder.cli.lazy import READING
from recorder.cli.listing import TEXTS, list_options, print_listing
from recorder.cli.options import (
    Limit,
    all_option,
    output_option,
    reading_options,
)
from recorder.cli.output import note, print_text

if TYPE_CHECKING:
    from recorder.answers.arguments import Argument, Option
    from recorder.answers.ports import Reading
    from recorder.answers.registry import Question
    from recorder.answers.text.shown import Listing, Text

Answer = TypeVar("Answer")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

COMPLETING: Mapping[str | None, Any] = {
    None: None,
    "labels": completing.labels,
    "nodes": completing.nodes,
    "objects": completing.objects,
    "places": completing.places,
    "racks": completing.racks,
}


@dataclass(frozen=True, slots=True)
class Answered(Generic[Answer]):
    """An answer, and the options of its question."""

    answer: Answer
    asked: Any
    given: Mapping[str, Any]
    now: datetime

    @property
    def output(self) -> str:
        """The form that was asked for."""
        form: str = self.given["output"]
        return form


class ReadCommand(click.Command):
    """A command whose first options are the arguments of a question."""

    def __init__(self, *args: Any, asks: str, **attributes: Any) -> None:
        self._asks = asks
        self._params: list[click.Parameter] = []
        self._read = False
        super().__init__(*args, **attributes)
        self.epilog = READING

    @property
    def question(self) -> "Question":
        """What it asks."""
        from recorder.answers.registry import QUESTIONS

        return QUESTIONS[self._asks]

    @property
    def params(self) -> list[click.Parameter]:
        """The arguments of the question, and how its answer is printed.

        Between them are the options of its own, those of the log come last.
        """
        if not self._read:
            self._read = True
            own = [one for one in self._params if one.expose_value]
            log = [one for one in self._params if not one.expose_value]
            taken = (one for one in self.question.arguments if one.option)
            printing = _printing(self.question)
            self._params = [*map(_parameter, taken), *own, *printing, *log]
        return self._params

    @params.setter
    def params(self, own: list[click.Parameter]) -> None:
        self._params = own


def read_command(
    asks: str, *options: Callable[..., Any]
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command from a function, with the arguments of a question.

    Args:
        asks: the name of the question.
        options: that the command has beside; those that say which log is
            asked come last.
    """

    def decorate(run: Callable[..., Any]) -> click.Command:
        run = all_of((*options, reading_options))(click.pass_context(run))
        return click.command(cls=ReadCommand, asks=asks)(run)

    return decorate


def answer_command(
    asks: str, text: str, *options: Callable[..., Any]
) -> click.Command:
    """Make the command of a question: its entry in the registry, and a text.

    Its exit status says whether the answer is complete.
    """

    def run(ctx: click.Context, /, **given: Any) -> int:
        return wait_for(answer(ctx, given))

    run.__doc__ = text
    return read_command(asks, *options)(run)


async def answer(
    ctx: click.Context,
    given: Mapping[str, Any],
    *,
    asks: "Question | None" = None,
) -> int:
    """Ask, print the answer as the registry says; return the exit status."""
    question = asks or _question(ctx)
    if given.get("all_clusters"):
        return await _answer_each(ctx, given)
    found = await ask(ctx, given, asks=asks)
    verbose = bool(given.get("verbose"))
    shown = question.shown(found.answer, found.asked, verbose=verbose)
    return print_answer(shown, found)


def print_answer(shown: "Text | Listing", found: Answered[Any]) -> int:
    """Print an answer; return the exit status."""
    from recorder.answers.text.shown import Text

    coverage = found.answer.coverage
    if isinstance(shown, Text):
        print_text(shown, found.output)
        return judge(coverage)
    print_listing(shown, found.given, now=found.now)
    if shown.says_missing and found.output in TEXTS:
        return 0 if coverage.complete else INCOMPLETE
    return judge(coverage)


async def _answer_each(ctx: click.Context, given: Mapping[str, Any]) -> int:
    """Ask every log; print the answers as one list."""
    from recorder.answers.text.shown import Text

    readings, found = await ask_each(ctx, given)
    logs = [reading.log for reading in readings]
    answers = list(zip(logs, found.answer, strict=True))
    shown = _question(ctx).shown_each(
        answers,
        found.asked,
        readings.away,
        verbose=bool(given.get("verbose")),
    )
    if isinstance(shown, Text):
        print_text(shown, found.output)
    else:
        print_listing(shown, given, now=found.now)
    return judge_all(readings, [one.coverage for one in found.answer])


async def ask(
    ctx: click.Context,
    given: Mapping[str, Any],
    *,
    asks: "Question | None" = None,
) -> Answered[Any]:
    """Ask the log that the options name, or else the question."""
    read = read_question(ctx, given, asks=asks)
    async with open_reading(ctx, getattr(read[0], "log", None)) as reading:
        return await ask_reading(ctx, given, reading, read, asks=asks)


async def ask_reading(
    ctx: click.Context,
    given: Mapping[str, Any],
    reading: "Reading",
    read: tuple[Any, datetime],
    *,
    asks: "Question | None" = None,
) -> Answered[Any]:
    """Ask a log that is open what `read_question` returned."""
    from recorder.explain.knowledge import load

    question = asks or _question(ctx)
    asked, present = read
    knowledge = load(ctx.obj.knowledge)
    answer = await question.answer(reading, asked, knowledge, now=present)
    return Answered(answer, asked, given, present)


async def ask_each(
    ctx: click.Context, given: Mapping[str, Any]
) -> tuple[Readings, Answered[Sequence[Any]]]:
    """Ask every log; leave out those that do not have what is named.

    Raises:
        NotFoundError: none of them has it.
    """
    from recorder.explain.knowledge import load
    from recorder.model.errors import NotFoundError

    question = _question(ctx)
    asked, present = read_question(ctx, given)
    knowledge = load(ctx.obj.knowledge)
    answers, having = [], []
    missing: NotFoundError | None = None
    async with open_readings(ctx) as readings:
        for reading in readings:
            try:
                answer = await question.answer(
                    reading, asked, knowledge, now=present
                )
            except NotFoundError as exc:
                missing = missing or exc
                continue
            answers.append(answer)
            having.append(reading)
    if missing is not None and not answers:
        raise missing
    return (
        Readings(having, readings.away),
        Answered(answers, asked, given, present),
    )


def read_question(
    ctx: click.Context,
    given: Mapping[str, Any],
    *,
    asks: "Question | None" = None,
    **fixed: Any,
) -> tuple[Any, datetime]:
    """Make the question from the options; return it with the time of asking.

    A note about a time is printed once, however often the options are read.

    Raises:
        ConfigError: an option is invalid, or they exclude each other.
    """
    from recorder.answers.arguments import Asking
    from recorder.model.window import Window

    present = now()
    asking = Asking(
        now=present,
        window=partial(Window.between, now=present),
        spelled=_spelled,
        assumed=partial(_note_once, ctx),
    )
    question = asks or _question(ctx)
    required = {one.name for one in question.arguments if one.required}
    named = {
        name: value
        for name, value in given.items()
        if value not in ("", ()) or name in required
    }
    return question.read(named, asking, **fixed), present


def _note_once(ctx: click.Context, text: str) -> None:
    noted: set[str] = ctx.meta.setdefault(__name__, set())
    if text not in noted:
        noted.add(text)
        note(text)


def _question(ctx: click.Context) -> "Question":
    assert isinstance(ctx.command, ReadCommand)
    return ctx.command.question


def _spelled(one: "Argument") -> str:
    assert one.option is not None, "it was given as an option"
    return one.option.flags[-1] if one.option.flags else one.name


def _printing(question: "Question") -> Sequence[click.Parameter]:
    """Return the options of the printed form of an answer."""
    from recorder.answers.registry import LIST

    printed = question.printed
    if printed is None:
        return ()
    options = output_option(*printed.forms)
    if printed.forms[: len(LIST)] == LIST:
        options = list_options(*printed.forms[len(LIST) :])
    if printed.each:
        options = all_of((all_option, options))
    return parameters(options)


def _parameter(one: "Argument") -> click.Parameter:
    """Return the option or the argument that takes an argument."""
    option = one.option
    assert option is not None
    complete = COMPLETING[option.names]
    if not option.flags:
        return click.Argument(
            [one.name],
            metavar=option.metavar,
            required=one.required,
            nargs=-1 if one.many else 1,
            shell_complete=complete,
        )
    if one.takes is bool:
        return click.Option(
            [*option.flags, one.name], is_flag=True, help=option.help
        )
    return click.Option(
        [*option.flags, one.name],
        metavar=_metavar(one),
        help=option.help,
        type=_type(one),
        multiple=one.many and not option.once,
        required=one.required,
        shell_complete=complete,
        **_default(option),
    )


def _default(option: "Option") -> Mapping[str, Any]:
    """Return the default and that it is shown, if there is one.

    To click a default of None is a value, so that nothing would be required.
    """
    if option.default is None:
        return {}
    return {"default": option.default, "show_default": True}


def _metavar(one: "Argument") -> str | None:
    option = one.option
    assert option is not None
    if option.metavar is not None or option.once:
        return option.metavar
    if one.takes is datetime:
        return "TIME"
    return option.flags[-1].removeprefix("--").upper()


def _type(one: "Argument") -> Any:
    from recorder.answers.arguments import Newest

    assert one.option is not None
    if one.takes is Newest:
        return Limit()
    if issubclass(one.takes, StrEnum):
        return click.Choice([word.value for word in one.takes])
    if one.option.between is not None:
        return click.IntRange(*one.option.between)
    return str
