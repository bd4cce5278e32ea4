"""Links that a site has the page offer."""

from typing import Self

from api.describing import described

__all__ = ["LinkTemplate"]


@described
class LinkTemplate:
    """A link with names in braces, for the page to fill in."""

    name: str

    url: str

    @classmethod
    def of(cls, setting: str) -> Self:
        """Take it from the setting `links`."""
        name, _, url = setting.partition("=")
        return cls(name=name.strip(), url=url.strip())
