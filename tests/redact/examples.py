"""One redaction for all tests, and documents with one thing in them."""

import hmac
from typing import Any

import orjson

from recorder.intake.redact import Redaction, RedactionRules

__all__ = ["KEY", "compact", "digest", "pack", "redaction", "variables"]

KEY = b"a key that only the tests have.."
redaction = Redaction(RedactionRules(), KEY)


def compact(document: Any) -> bytes:
    return orjson.dumps(document)


def digest(value: str | bytes) -> str:
    """What stands for a value, by the standard library's own HMAC."""
    data = value.encode() if isinstance(value, str) else value
    return "redacted:" + hmac.digest(KEY, data, "sha256")[:16].hex()


def variables(*pairs: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in pairs]


def pack(document: Any, times: int = 1) -> Any:
    """Nest a document in strings, to this depth."""
    for _ in range(times):
        document = compact(document).decode()
    return document
