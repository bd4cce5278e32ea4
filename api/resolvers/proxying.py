"""Access through a proxy that authenticated who asks, as by OIDC.

Its headers name the user and the groups. They count only on a connection with
the proxy's own certificate; anybody else who sends them is refused.
"""

import re
from collections.abc import Mapping, Sequence

from api.access import DeniedError, Guard, Principal
from api.resolvers.reviewing import Reviewing
from recorder.model.access import Person

__all__ = ["ProxyGuard"]

AUTHENTICATED = "system:authenticated"
RESERVED = "system:"
"""How Kubernetes begins the names of its own users and groups; a proxy has
none of them to give."""

SEPARATORS = re.compile(r"[,|]")
"""Between groups in one header: of oauth2-proxy, and of kube-rbac-proxy."""

GROUPS_MAX = 500


class ProxyGuard:
    """Takes the word of a proxy, and else another guard's."""

    def __init__(
        self,
        behind: Guard | None,
        reviewing: Reviewing | None,
        *,
        headers: Sequence[str],
        names: Sequence[str],
    ) -> None:
        """Take who decides for requests that do not come from the proxy.

        Args:
            behind: that other guard; None where nobody else has access.
            reviewing: says what users may read; None: everything.
            headers: in which the user is named, and the groups.
            names: of the proxy's certificate; empty for any.
        """
        self._behind = behind
        self._reviewing = reviewing
        self._user, self._groups = (name.lower() for name in headers)
        self._names = frozenset(names)

    async def admit(
        self, headers: Mapping[str, str], peer: str | None = None
    ) -> Principal:
        """Return whom the proxy names, or who proves to be somebody.

        Raises:
            DeniedError: the headers are not the proxy's, or name nobody.
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

        A header that comes twice would name two users: which one the proxy
        meant is not known.
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
    """Return all values of a header, of mappings that hold several."""
    several = getattr(headers, "getlist", None)
    if several is not None:
        return list(several(name))
    return [headers[name]] if name in headers else []
