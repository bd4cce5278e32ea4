"""Rules of the site: whether each file can be used."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recorder.doctor.check import Check
from recorder.explain.knowledge import KnowledgeError, load
from recorder.notification.loading import (
    NotifyError,
    address_of,
    load_rules,
    token_of,
)

RULES = "knowledge"
NOTIFICATIONS = "notifications"


def look_at_rules(files: Sequence[str]) -> Iterator[Check]:
    """Check each file that the settings name."""
    for file in files:
        try:
            load((file,))
        except KnowledgeError as exc:
            yield Check(
                name=RULES,
                ok=False,
                says=str(exc),
                remedy="fix the file, or remove it from the setting"
                " RECORDER_KNOWLEDGE: no verdicts until then",
            )
        else:
            yield Check(name=RULES, ok=True, says=f'"{file}" can be used')


def look_at_notifications(file: Path | None) -> Iterator[Check]:
    """Check the rules of notifications, and the files that they name."""
    if file is None:
        return
    try:
        rules = load_rules(file).rules
        for rule in rules:
            address_of(rule.post)
            token_of(rule.post)
    except NotifyError as exc:
        yield Check(
            name=NOTIFICATIONS,
            ok=False,
            says=str(exc),
            remedy="fix it, and try the rules with `recorder notify --test`:"
            " no notifications are sent until then",
        )
    else:
        says = f'{len(rules)} rules in "{file}" can be used'
        yield Check(name=NOTIFICATIONS, ok=True, says=says)
