"""Texts of facts: bounded, since an annotation may be a quarter of a MiB."""

TEXT_CHARACTERS_MAX = 4_096
"""Of a value in a fact; what is cut is in the entry."""


def cut(text: str | None) -> str | None:
    """Return a text, or its beginning and how long it is."""
    if text is None or len(text) <= TEXT_CHARACTERS_MAX:
        return text
    return f"{text[:TEXT_CHARACTERS_MAX]}… ({len(text)} characters)"


def all_cut(texts: dict[str, str]) -> dict[str, str]:
    """Return texts by their keys, each cut."""
    if max(map(len, texts.values()), default=0) <= TEXT_CHARACTERS_MAX:
        return texts
    return {key: cut(text) or "" for key, text in texts.items()}
