"""One tab of the browser, with its errors."""

from playwright.sync_api import Page

__all__ = ["Tab"]

READY = "body[data-state=ready]"


class Tab:
    """A page, and the words in which tests speak of it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        """What the browser said went wrong; tests that break something on
        purpose clear it."""
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: object) -> None:
        kind = getattr(message, "type", "")
        if kind in {"error", "warning"}:
            self.complaints.append(str(getattr(message, "text", message)))

    def open(self, path: str) -> None:
        """Go to an address, and wait until all that it needs is there."""
        self.page.goto(path)
        self.ready()

    def ready(self) -> None:
        """Wait until all requests of the page are answered."""
        self.page.wait_for_selector(READY)

    def settle(self) -> None:
        """Wait until what changed is laid out and drawn."""
        self.page.evaluate(
            "new Promise(done => requestAnimationFrame("
            "() => requestAnimationFrame(done)))"
        )

    @property
    def size(self) -> tuple[int, int]:
        """Return its width and height, including the scrolled parts."""
        wide, tall = self.page.evaluate(
            "[document.documentElement.scrollWidth,"
            " document.documentElement.scrollHeight]"
        )
        return wide, tall

    @property
    def address(self) -> str:
        """Return the path and query of where it is."""
        where: str = self.page.evaluate("location.pathname + location.search")
        return where

    def says(self, selector: str) -> str:
        """Return the text of something, in one line."""
        return " ".join(self.page.locator(selector).first.inner_text().split())

    def keys(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def pixels(self, selector: str) -> str:
        """Return the pixels of a canvas."""
        drawn: str = self.page.locator(selector).first.evaluate(
            "canvas => canvas.toDataURL()"
        )
        return drawn
