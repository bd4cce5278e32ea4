"""Reading and checking the rules of notifications.

The address that a rule posts to may be a secret: no error message has it.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from recorder.model.errors import ConfigError
from recorder.model.rules_files import RulesFile
from recorder.model.rules_parts import Fault
from recorder.model.setting_values import parse_duration
from recorder.notification.rules import NotifyRules, Post, Rule, Shape

RULES_MAX = 100
SECRET_BYTES_MAX = 8 << 10

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
OURS = frozenset({"alertname", "cluster", "log", "incident", "rule", "node"})
"""Labels that identify an alert; a rule cannot set them."""

TIMES = {
    "timeout": (timedelta(seconds=1), timedelta(seconds=30)),
    "give_up_after": (timedelta(minutes=1), timedelta(days=7)),
    "settle": (timedelta(), timedelta(hours=1)),
    "gap": (timedelta(), timedelta(days=7)),
}
"""The shortest and the longest value of each duration."""

NOT_OF_GAPS = (
    *("happened", "cause", "confidence", "node", "labels", "rack"),
    *("namespace", "workload", "owner", "ended_by"),
)
NOT_OF_WORKLOADS = ("happened", "labels", "rack")

Steps = tuple[str | int, ...]


class NotifyError(ConfigError):
    """The rules of notifications, or a file that they name, cannot be used."""

    code = "notify.invalid"


def load_rules(path: Path) -> NotifyRules:
    """Read a file of rules.

    Raises:
        NotifyError: it cannot be read, or is wrong; the message has its name
            and line.
    """
    file = RulesFile(str(path), NotifyError)
    return _checked(file, file.text())


def read_rules(text: str, *, name: str) -> NotifyRules:
    """Parse the text of a file of rules; raises what `load_rules` does."""
    return _checked(RulesFile(name, NotifyError), text)


def address_of(post: Post) -> str:
    """Return the address to post to; a file is read each time.

    Raises:
        NotifyError: its file cannot be read, or has no valid address.
    """
    if post.url is not None:
        return post.url
    assert post.url_file is not None, "rules with neither were rejected"
    address = _secret(post.url_file)
    wrong = _wrong_address(address)
    if wrong is not None:
        msg = f'cannot use the address in "{post.url_file}": {wrong}'
        raise NotifyError(msg)
    return address


def token_of(post: Post) -> str | None:
    """Return the bearer token for the receiver; None where none is needed.

    Raises:
        NotifyError: its file cannot be read, or has no valid token.
    """
    if post.token_file is None:
        return None
    token = _secret(post.token_file)
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        msg = f'cannot use "{post.token_file}": the token is not one word'
        raise NotifyError(msg)
    return token


def _secret(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            content = file.read(SECRET_BYTES_MAX + 1)
        text = content.decode().strip()
    except OSError as exc:
        msg = f'cannot read "{name}": {exc.strerror}'
        raise NotifyError(msg) from exc
    except UnicodeDecodeError as exc:
        msg = f'cannot read "{name}": it is not UTF-8'
        raise NotifyError(msg) from exc
    if not text or len(content) > SECRET_BYTES_MAX:
        msg = f'cannot use "{name}": it is empty or too long'
        raise NotifyError(msg)
    return text


def _checked(file: RulesFile, text: str) -> NotifyRules:
    found = file.read(text, NotifyRules)
    if not 0 < len(found.rules) <= RULES_MAX:
        raise file.fault(("rules",), f"write 1 to {RULES_MAX} rules")
    faults: list[Fault] = []
    lines: dict[str, int] = {}
    for place, rule in enumerate(found.rules):
        at: Steps = ("rules", place)
        faults += [
            Fault((*at, *steps), f'rule "{rule.name[:63]}": {why}')
            for steps, why in _faults(rule)
        ]
        line = file.line_at((*at, "name"))
        if rule.name in lines:
            why = (
                f'the name "{rule.name}" is in line {lines[rule.name]}'
                " already: give each rule a name of its own"
            )
            faults.append(Fault((*at, "name"), why))
        lines[rule.name] = line
    if faults:
        raise file.faults(faults)
    return found


def _faults(rule: Rule) -> Iterator[tuple[Steps, str]]:
    """Yield the path of each fault in a rule, and the reason."""
    if not NAME.fullmatch(rule.name):
        why = "write the name in a-z, 0-9 and -, at most 63 characters"
        yield ("name",), why
    yield from _faults_of_when(rule)
    yield from _faults_of_post(rule.post)
    yield from _time(("settle",), rule.settle)
    if rule.page is not None and _wrong_address(rule.page) is not None:
        yield ("page",), f"page: {_wrong_address(rule.page)}"
    if rule.labels and rule.post.shape is not Shape.ALERTMANAGER:
        yield ("labels",), "labels are only for the shape alertmanager"
    for name in rule.labels:
        if not LABEL.fullmatch(name):
            yield ("labels", name), "a label is a-z, A-Z, 0-9 and _"
        if name in OURS:
            yield ("labels", name), f'the label "{name}" is set by Recorder'


def _faults_of_when(rule: Rule) -> Iterator[tuple[Steps, str]]:
    when = rule.when
    if when.gap is None:
        if when.resource:
            why = "resource is only for rules with gap"
            yield ("when", "resource"), why
        for name in NOT_OF_WORKLOADS if when.is_of_workloads else ():
            if getattr(when, name):
                why = (
                    f"{name} is of incidents, and workload, owner and"
                    " ended_by are of workloads: write two rules"
                )
                yield ("when", name), why
        return
    yield from _time(("when", "gap"), when.gap)
    for name in NOT_OF_GAPS:
        if getattr(when, name):
            why = (
                f"gap and {name} exclude each other, because a gap is no"
                " incident: write two rules"
            )
            yield ("when", name), why


def _faults_of_post(post: Post) -> Iterator[tuple[Steps, str]]:
    if (post.url is None) == (post.url_file is None):
        yield ("post",), "post needs either url or url_file"
    if post.url is not None:
        wrong = _wrong_address(post.url)
        if wrong is not None:
            yield ("post", "url"), f"url: {wrong}"
    yield from _time(("post", "timeout"), post.timeout)
    yield from _time(("post", "give_up_after"), post.give_up_after)


def _time(steps: Steps, text: str) -> Iterator[tuple[Steps, str]]:
    name = str(steps[-1])
    least, most = TIMES[name]
    try:
        found = parse_duration(text)
    except (ValueError, OverflowError):
        why = f'{name}: "{text[:40]}" is not a duration: write 90s or 5m'
        yield steps, why
        return
    if not least <= found <= most:
        shortest, longest = least.total_seconds(), most.total_seconds()
        yield steps, f"{name}: it is {shortest:g}s to {longest:g}s"


def _wrong_address(address: str) -> str | None:
    """Return what is wrong with an address, without showing it."""
    malformed = "it is not an address: write https://HOST/PATH"
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return malformed
    if not usable or not re.fullmatch(r"[\x21-\x7e]+", address):
        return malformed
    if parts.scheme not in {"http", "https"}:
        return "it does not begin with https:// or http://"
    if parts.username is not None or parts.password is not None:
        return "it has a password in it: put a token into token_file"
    return None
