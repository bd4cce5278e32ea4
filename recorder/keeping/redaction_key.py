"""The redaction that the settings ask for, and the key of its digests.

The key is in a file that only its owner may read. The log keeps the key's id,
never the key: with it, values could be tried out against the digests.
"""

import secrets

from recorder.intake.redact import DEFAULT_PATTERNS, Redaction, RedactionRules
from recorder.keeping.secret_files import KeyFileError, make_once, read_secret
from recorder.model.settings import Settings

KEY_BYTES = 32


def load_key(settings: Settings) -> bytes:
    """Read the key; make one where none was named and none exists.

    Raises:
        KeyFileError: the file cannot be read, others may read it, or it
            holds no key.
    """
    named = settings.redaction_key_file
    path = named or settings.data_dir / "redaction.key"
    if named is None:
        make_once(path, lambda: secrets.token_hex(KEY_BYTES) + "\n")
    text = read_secret(path, "redaction key", named=named is not None)
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) < KEY_BYTES:
        msg = (
            f'cannot use the redaction key "{path}": it must hold'
            f" {KEY_BYTES * 2} or more hexadecimal digits; make one with:"
            f" openssl rand -hex {KEY_BYTES}"
        )
        raise KeyFileError(msg)
    return key


def make_redaction(settings: Settings, key: bytes) -> Redaction:
    """Make the redaction that the settings ask for."""
    patterns = DEFAULT_PATTERNS + settings.redact_names
    rules = RedactionRules(
        patterns=patterns,
        truncates_addresses=settings.audit_truncate_addresses,
    )
    return Redaction(rules, key)
