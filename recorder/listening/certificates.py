"""Certificates of a server, in files that are renewed while it serves."""

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from recorder.model.errors import ConfigError


class CertificateFileError(ConfigError):
    """A certificate or its key cannot be used."""

    code = "config.certificates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """The certificate of the server, and the authority of its clients."""

    certificate: Path
    key: Path
    client_authority: Path | None = None
    """Signs the certificates of clients; None if none are required."""

    required: bool = True
    """Whether a client without a certificate is rejected at once."""

    of: str
    """The server that uses them, as text."""

    def context(self, report: Callable[[str | None], None]) -> ssl.SSLContext:
        """Make a context that follows the files, which may be renewed.

        ``report`` gets the reason when they cannot be read again, None when
        they can.

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
                    # For later connections; this one has its own.
                    seen = self._load_into(context)
            except CertificateFileError as exc:
                # The current ones stay in use until they expire.
                report(str(exc))
            else:
                report(None)

        context.sni_callback = follow  # called with each handshake
        return context

    def _load_into(self, context: ssl.SSLContext) -> Sequence[int]:
        try:
            seen = self._state()
            # Tried first: half of a new pair would replace half of the old
            # one.
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
            CertificateFileError: one does not exist.
        """
        try:
            return [path.stat().st_mtime_ns for path in self._files()]
        except OSError as exc:
            raise self._unusable(exc) from exc

    def _unusable(self, why: Exception) -> CertificateFileError:
        files = ", ".join(map(str, self._files()))
        what = f"the certificates of {self.of} ({files})"
        return CertificateFileError(f"cannot use {what}: {why}")
