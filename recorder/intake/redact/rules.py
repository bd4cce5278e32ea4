"""Which environment variables hold secrets, by their name.

A pattern that matches too much costs little: the variable is shown by a
digest, and its changes are still visible. A pattern that matches too little
leaks forever. The defaults lean accordingly, but exclude names that every
training job has and no secret does.
"""

import re
from dataclasses import dataclass

from recorder.model.errors import ConfigError

DEFAULT_PATTERNS: tuple[str, ...] = (
    # DB_PASSWORD, PASSWD, htpasswd; SSH_PASSPHRASE, PASSCODE.
    r"passw",
    r"pass(phrase|code)",
    # DB_PASS, MYSQL_PWD, DB_PW, but neither COMPASS nor PWD and OLDPWD.
    r"(^|[_.-])pass($|[_.-])",
    r"[_.-](pwd|pw)($|[_.-])",
    # CLIENT_SECRET, SECRET_KEY.
    r"secret",
    # HF_TOKEN, tokens; but not TOKENIZERS_PARALLELISM or TOKENIZED_DATA.
    r"token(?!i[sz])",
    # AWS_CREDENTIALS, GIT_CREDS.
    r"credential",
    r"(^|[_.-])creds?($|[_.-])",
    # API_KEY, apikey, PRIVATE_KEY, AWS_ACCESS_KEY_ID, SSH_KEY, masterKey.
    r"(api|private|access|master|account|license|service|storage)[_.-]?key",
    r"(encryption|signing|ssh|tls|ssl)[_.-]?key",
    # Any other name with "key" as a word: STRIPE_KEY, KEY.
    r"(^|[_.-])keys?$",
    # BASIC_AUTH, AUTHORIZATION, OAUTH_CODE, but not AUTHOR and AUTHORITY.
    r"auth(?!or(?!i[sz]))",
    # Sessions and the like: JWT, BEARER, SESSION_COOKIE.
    r"jwt|bearer|cookie",
    # Addresses that contain a password: SENTRY_DSN, DATABASE_URL, REDIS_URI,
    # CONNECTION_STRING, JDBC_URL, AZURE_SAS, DATA_SOURCE_NAME.
    r"dsn",
    r"data[_.-]?source[_.-]?name",
    r"conn(ection)?[_.-]?str",
    r"jdbc",
    r"(^|[_.-])(db|database|pg|postgres(ql)?|mysql|mssql|sql)[_.-]?ur[il]",
    r"(mariadb|mongo(db)?|clickhouse|redis|valkey|ldap|smtp)[_.-]?ur[il]",
    r"(amqp|rabbitmq|broker|nats|kafka)[_.-]?ur[il]",
    r"(^|[_.-])sas($|[_.-])",
    # Addresses that are the secret: SLACK_WEBHOOK_URL.
    r"webhook",
    # Whole files of them: KUBECONFIG_DATA, DOCKERCONFIGJSON, NETRC, PGPASS.
    r"kubeconfig|dockerconfig|netrc|pgpass",
)
"""Searched for anywhere in a name, in any case."""

NAME_LENGTH_MAX = 256
"""Longer names count as a match without being searched: no real variable has
one, and a pattern must not work on megabytes."""

REMEMBERED_NAMES_MAX = 8_192
"""Names whose verdict is kept. A fleet repeats a few hundred; beyond the
bound, which is at most 3 MB, the cache is cleared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionRules:
    """The configurable part of redaction.

    That the values of Secrets are never stored is not a rule but a guarantee,
    and cannot be switched off here.
    """

    patterns: tuple[str, ...] = DEFAULT_PATTERNS
    """Regular expressions, searched for anywhere in the ``name`` of an ``env``
    item, ignoring case. An empty tuple is allowed: then no environment
    variable is redacted."""

    truncates_addresses: bool = False
    """Whether to keep only the network of addresses in audit records: 24 bits
    of IPv4, 48 of IPv6."""


class NameMatcher:
    """Matches the names of secrets; caches the result for each name."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        """Compile the patterns.

        Raises:
            ConfigError: one of them is not a regular expression.
        """
        self._patterns = [_compiled(pattern) for pattern in patterns]
        self._known: dict[str, bool] = {}

    def __call__(self, name: str) -> bool:
        """Return whether a variable of this name holds a secret."""
        verdict = self._known.get(name)
        if verdict is None:
            verdict = self._judge(name)
        return verdict

    def _judge(self, name: str) -> bool:
        if len(name) > NAME_LENGTH_MAX:
            return True
        if len(self._known) >= REMEMBERED_NAMES_MAX:
            self._known.clear()
        verdict = any(pattern.search(name) for pattern in self._patterns)
        self._known[name] = verdict
        return verdict


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as exc:
        msg = f'redaction pattern "{pattern}" is invalid: {exc}'
        raise ConfigError(msg) from exc
