"""Access through a proxy that authenticated the user, for example by OIDC.

Its headers name the user and the groups. They are accepted only on a
connection with the certificate of the proxy; other requests with these headers
are refused.
"""

import re
from collections.abc import Mapping, Sequence

from api.access import DeniedError, Guard, Principal
from api.resolvers.reviewing import Reviewing
from recorder.model.access import Person

AUTHENTICATED = "system:authenticated"
RESERVED = "system:"
"""The prefix of users and groups of Kubernetes itself, which a proxy must not
name."""

SEPARATORS = re.compile(r"[,|]")
"""Between groups in one header: of oauth2-proxy and of kube-rbac-proxy."""

GROUPS_MAX = 500


class ProxyGuard:
    """Accepts the user that a proxy names; otherwise uses another guard."""

    def __init__(
        self,
        behind: Guard | None,
        reviewing: Reviewing | None,
        *,
        headers: Sequence[str],
        names: Sequence[str],
    ) -> None:
        """Take the guard for requests that do not come from the proxy.

        Args:
            behind: that guard; None: other requests are refused.
            reviewing: reviews what users may read; None: everything.
            headers: the names of the headers of the user and of the groups.
            names: accepted names in the proxy's certificate; empty: any.
        """
        self._behind = behind
        self._reviewing = reviewing
        self._user, self._groups = (name.lower() for name in headers)
        self._names = frozenset(names)

    async def admit(
        self, headers: Mapping[str, str], peer: str | None = None
    ) -> Principal:
        """Return the user that the proxy names, or that the guard accepts.

        Raises:
            DeniedError: the headers are not from the proxy, or name no user.
        """
        is_proxy = peer is not None and (
            not self._names or peer in self._names
        )
        claims = {self._user, self._groups} & {one.lower() for one in headers}
        if claims and not is_proxy:
            msg = "who asks is named without the certificate of the proxy"
            raise DeniedError(msg)
        if not claims:
            if self._behind is None:
                msg = "ask through the proxy: it names who asks"
                raise DeniedError(msg)
            return await self._behind.admit(headers, peer)
        person = self._person(headers)
        if self._reviewing is None:
            return Principal(person.name)
        return await self._reviewing.principal(person)

    def _person(self, headers: Mapping[str, str]) -> Person:
        """Return the user of the headers, with the groups.

        A repeated header is refused: it would be unknown which user the proxy
        meant.
        """
        users = _values(headers, self._user)
        groups = [
            group.strip()
            for text in _values(headers, self._groups)
            for group in SEPARATORS.split(text)
            if group.strip()
        ]
        if len(users) != 1 or not users[0].strip() or len(groups) > GROUPS_MAX:
            msg = f"the proxy names no user in {self._user}, or several"
            raise DeniedError(msg)
        person = Person(users[0].strip(), (*groups, AUTHENTICATED))
        if any(name.startswith(RESERVED) for name in (person.name, *groups)):
            msg = f'the proxy may name no user or group of "{RESERVED}"'
            raise DeniedError(msg)
        return person


def _values(headers: Mapping[str, str], name: str) -> list[str]:
    """Return all values of a header, which may be repeated."""
    several = getattr(headers, "getlist", None)
    if several is not None:
        return list(several(name))
    return [headers[name]] if name in headers else []
