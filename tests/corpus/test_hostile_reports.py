"""What a cluster says cannot format a report, whatever its signs."""

from collections.abc import Callable
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from msgspec.structs import replace

from recorder.answers.html import html
from recorder.answers.markdown import markdown
from recorder.answers.postmortem import Postmortem
from tests.corpus.conftest import Corpus
from tests.corpus.test_postmortem_parts import RACK, ask

HARMLESS = "harmless"
HOSTILE = (
    "a\\b \\* \\",
    "&lt;b&gt; &amp; &#42; &copy &nosuch;",
    "<b>x</b> <!-- --> <https://example.com> </li>",
    "[x](https://example.com) ![x](y) [x]: z",
    "**x** __x__ *x* _x_ ~~x~~ ~x~",
    "# x", "###### x", "> x", "- x", "+ x", "* x", "1. x", "12) x",
    "---", "***", "- - -", "===", "~~~", "~~~ sh", "    x", "[ ] x",
    "x | y", ":--", '"x" onclick=\'y\'',
)  # fmt: skip
"""Texts without "`", which becomes an apostrophe."""


class Read(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        self.elements.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(report: Postmortem) -> Read:
    """Return a report in Markdown as a reader sees it."""
    reader = MarkdownIt().enable(["table", "strikethrough"])
    return Read(reader.render(markdown(report)))


def saying(report: Postmortem, text: str) -> Postmortem:
    """Return it with a text wherever a cluster may say something."""
    return replace(
        report,
        subject=text,
        question=replace(report.question, subject=f"node/'{text}'"),
        summary=[text, *report.summary],
        factors=[text],
        action_items=[text],
        verdicts=[
            replace(
                one,
                sentence=text,
                node=text,
                evidence=[replace(each, says=text) for each in one.evidence],
            )
            for one in report.verdicts
        ],
    )


READERS: dict[str, Callable[[Postmortem], Read]] = {
    "Markdown": rendered,
    "HTML": lambda report: Read(html(report)),
}


async def test_a_text_is_read_as_it_is_and_formats_nothing(
    corpus: Corpus,
) -> None:
    found = await ask(corpus, "rack-loss-jobset", None, rack=RACK)
    wrong = []
    for form, read in READERS.items():
        harmless = read(saying(found, HARMLESS))
        count = harmless.text.count(HARMLESS)
        assert count >= len(found.verdicts) + 5
        for text in HOSTILE:
            hostile = read(saying(found, text))
            if hostile.elements != harmless.elements:
                wrong.append((form, text, "elements"))
            if hostile.text.count(text.strip()) < count:
                wrong.append((form, text, "text"))
    assert not wrong


async def test_backticks_of_a_name_do_not_end_the_command(
    corpus: Corpus,
) -> None:
    found = await ask(corpus, "rack-loss-jobset", None, rack=RACK)
    for subject in ("rack `x`", "``x", "x`", "`"):
        asked = replace(found.question, subject=subject)
        seen = rendered(replace(found, question=asked))
        assert f"recorder postmortem {subject} --since" in seen.text
