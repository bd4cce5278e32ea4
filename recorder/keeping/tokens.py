"""Bearer tokens of the API and of senders, kept as hashes in one file.

A token is 256 bits of chance, so its SHA-256 reveals nothing of it, and needs
no salt and no slow hash. The file is read again when it changes, so that a
token counts, and no longer counts, at once.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fcntl import LOCK_EX, flock
from fnmatch import fnmatchcase
from pathlib import Path

from recorder.keeping.secret_files import sync_folder
from recorder.model.errors import ConfigError
from recorder.model.moment import written

PREFIX = "rec_"
"""Identifies a token as one wherever it is found."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LINE = re.compile(r"(\S+) ([0-9a-f]{64}) (\S+)(?: (\S+) (\S+))?")
PATTERN = re.compile(r"[!-~]{1,256}")
BYTES_MAX = 1 << 20
"""Of the file: about eight thousand tokens."""


class TokenFileError(ConfigError):
    """The file of the tokens cannot be used."""

    code = "config.tokens"
    exit_status = 1


@dataclass(frozen=True, slots=True)
class Token:
    """One token, without its secret, which only its holder has."""

    name: str
    digest: str
    created: str
    source: str | None = None
    """The pattern of sources from which its holder may post events; None:
    it posts none, and may read."""

    type: str | None = None
    """The pattern of their types."""

    def may_claim(self, source: str, kind: str) -> bool:
        """Return whether its holder may post events of a type of a source."""
        return (
            self.source is not None
            and self.type is not None
            and fnmatchcase(source, self.source)
            and fnmatchcase(kind, self.type)
        )


class TokenFile:
    """The tokens of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[int, int, int] | None = None
        self._tokens: Mapping[str, Token] = {}

    def make(self) -> None:
        """Make the file, without tokens, if it does not exist.

        Raises:
            TokenFileError: it cannot be made.
        """
        if not self._path.exists():
            with self._changing():
                pass

    def holder(self, presented: str) -> Token | None:
        """Return the token that a client presents, if it counts.

        One that may post events may do nothing else.

        Raises:
            TokenFileError: the file cannot be read.
        """
        found = self._found(presented)
        return None if found is None or found.source is not None else found

    def sender(self, presented: str) -> Token | None:
        """Return the token that a sender of events presents, if it counts.

        Raises:
            TokenFileError: the file cannot be read.
        """
        found = self._found(presented)
        return None if found is None or found.source is None else found

    def _found(self, presented: str) -> Token | None:
        # A digest is looked up, so that the time it takes reveals nothing.
        return self._known().get(_digest(presented))

    def tokens(self) -> list[Token]:
        """Return every token, in the order of the file.

        Raises:
            TokenFileError: the file cannot be read.
        """
        return list(self._known().values())

    def add(self, name: str, *, claims: tuple[str, str] | None = None) -> str:
        """Make a token; return it, because it is not stored.

        Args:
            name: of the token.
            claims: patterns of the sources and of the types of the events
                that its holder may post; None for one that reads.

        Raises:
            TokenFileError: there is one of that name, or it is none.
        """
        for pattern in claims or ():
            if PATTERN.fullmatch(pattern) is None:
                msg = (
                    f'cannot use "{pattern}" as a pattern: use 1 to 256'
                    " characters of ASCII without spaces"
                )
                raise TokenFileError(msg)
        if NAME.fullmatch(name) is None:
            msg = (
                f'cannot use "{name}" as the name of a token: use letters,'
                ' digits, ".", "_" and "-"'
            )
            raise TokenFileError(msg)
        token = PREFIX + secrets.token_urlsafe(32)
        with self._changing() as tokens:
            if any(one.name == name for one in tokens):
                msg = (
                    f'the token "{name}" exists already: revoke it, or choose'
                    " another name"
                )
                raise TokenFileError(msg)
            now = written(datetime.now(UTC))
            tokens.append(Token(name, _digest(token), now, *(claims or ())))
        return token

    def revoke(self, name: str) -> None:
        """Revoke a token.

        Raises:
            TokenFileError: there is none of that name.
        """
        with self._changing() as tokens:
            kept = [one for one in tokens if one.name != name]
            if len(kept) == len(tokens):
                msg = f'there is no token "{name}" in {self._path}'
                raise TokenFileError(msg)
            tokens[:] = kept

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """Yield the tokens to be changed; one process at a time does."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(
                self._path.with_name(f"{self._path.name}.lock"),
                os.O_CREAT | os.O_RDWR,
                0o600,
            )
        except OSError as exc:
            msg = f"cannot write {self._path}: {exc.strerror}"
            raise TokenFileError(msg) from exc
        try:
            flock(lock, LOCK_EX)
            tokens = self.tokens() if self._path.exists() else []
            yield tokens
            self._write(tokens)
        finally:
            os.close(lock)

    def _write(self, tokens: list[Token]) -> None:
        lines = [f"{_line(one)}\n" for one in tokens]
        # Renamed into its place, so that no reader sees half of it.
        new = self._path.with_name(f"{self._path.name}.new")
        try:
            new.unlink(missing_ok=True)
            file = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(file, "w") as stream:
                stream.writelines(lines)
                stream.flush()
                os.fsync(stream.fileno())
            new.replace(self._path)
            # A token that was revoked must not come back with the power.
            sync_folder(self._path.parent)
        except OSError as exc:
            msg = f"cannot write {self._path}: {exc.strerror}"
            raise TokenFileError(msg) from exc

    def _known(self) -> Mapping[str, Token]:
        try:
            state = self._path.stat()
            seen = (state.st_mtime_ns, state.st_ino, state.st_size)
            if seen != self._read:
                self._tokens = _parsed(self._path)
                self._read = seen
        except (OSError, UnicodeDecodeError) as exc:
            reason = getattr(exc, "strerror", None) or "it is not text"
            msg = (
                f"cannot read the tokens of {self._path}: {reason}; make one"
                " with `recorder token add NAME`"
            )
            raise TokenFileError(msg) from exc
        return self._tokens


def _parsed(path: Path) -> Mapping[str, Token]:
    with path.open() as stream:
        text = stream.read(BYTES_MAX + 1)
    if len(text) > BYTES_MAX:
        msg = f"cannot use {path}: it is larger than {BYTES_MAX >> 20} MiB"
        raise TokenFileError(msg)
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = LINE.fullmatch(line)
        if parts is None:
            msg = f"cannot use {path}: line {number} is not a token"
            raise TokenFileError(msg)
        token = Token(*parts.groups())
        found[token.digest] = token
    return found


def _line(token: Token) -> str:
    line = f"{token.name} {token.digest} {token.created}"
    if token.source is None:
        return line
    return f"{line} {token.source} {token.type}"


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
