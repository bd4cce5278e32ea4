"""Certificates of a server, in files that are renewed while it serves."""

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from recorder.errors import ConfigError

__all__ = ["CertificateFileError", "Certificates"]


class CertificateFileError(ConfigError):
    """A certificate or its key cannot be used."""

    code = "config.certificates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """What the server shows, and what it asks for."""

    certificate: Path
    key: Path
    client_authority: Path | None = None
    """Who signs the certificates of clients; None: none is asked for."""

    required: bool = True
    """Whether a client without a certificate is refused at once."""

    of: str
    """Who shows them, in words."""

    def context(self, tell: Callable[[str | None], None]) -> ssl.SSLContext:
        """Make a context that follows the files: they are renewed meanwhile.

        ``tell`` gets why they cannot be read again, None when they can.

        Raises:
            CertificateFileError: one cannot be used.
        """
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.client_authority is not None:
            context.verify_mode = (
                ssl.CERT_REQUIRED if self.required else ssl.CERT_OPTIONAL
            )
        seen = self._load_into(context)

        def follow(_: ssl.SSLObject, __: str, context: ssl.SSLContext) -> None:
            nonlocal seen
            try:
                if self._state() != seen:
                    # For the connections after this one, which has its own.
                    seen = self._load_into(context)
            except CertificateFileError as exc:
                # Those that were read go on until they expire.
                tell(str(exc))
            else:
                tell(None)

        context.sni_callback = follow  # called with each handshake
        return context

    def _load_into(self, context: ssl.SSLContext) -> Sequence[int]:
        try:
            seen = self._state()
            # First apart: half of a new pair would spoil the old one.
            apart = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            apart.load_cert_chain(self.certificate, self.key)
            context.load_cert_chain(self.certificate, self.key)
            if self.client_authority is not None:
                context.load_verify_locations(self.client_authority)
        except (OSError, ssl.SSLError) as exc:
            raise self._unusable(exc) from exc
        return seen

    def _files(self) -> Sequence[Path]:
        named = (self.certificate, self.key, self.client_authority)
        return [path for path in named if path is not None]

    def _state(self) -> Sequence[int]:
        """Return when the files were written.

        Raises:
            CertificateFileError: one is not there.
        """
        try:
            return [path.stat().st_mtime_ns for path in self._files()]
        except OSError as exc:
            raise self._unusable(exc) from exc

    def _unusable(self, why: Exception) -> CertificateFileError:
        files = ", ".join(map(str, self._files()))
        what = f"the certificates of {self.of} ({files})"
        return CertificateFileError(f"cannot use {what}: {why}")
