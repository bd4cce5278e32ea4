"""Who holds a token, and what they may get, as the API server says.

TokenReview and SubjectAccessReview, which an API server answers and does not
store. Nothing is remembered here.
"""

from typing import Any

import msgspec

from recorder.model.access import Person, Right
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.frames import UNREADABLE

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class _User(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] = msgspec.field(default_factory=list)
    extra: dict[str, list[str]] = msgspec.field(default_factory=dict)


class _Status(msgspec.Struct):
    authenticated: bool = False
    allowed: bool = False
    user: _User = msgspec.field(default_factory=_User)
    audiences: list[str] = msgspec.field(default_factory=list)


class _Review(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)


class KubernetesReviews:
    """Requests reviews from one API server; satisfies the port `Reviews`."""

    def __init__(
        self, client: ClusterClient, audiences: tuple[str, ...]
    ) -> None:
        """Take the audiences; a token must have one of them."""
        self._client = client
        self._audiences = audiences

    async def cluster_uid(self) -> str:
        """Return the UID of the cluster that responds.

        Raises:
            RequestError: it does not respond.
        """
        return await self._client.uid()

    async def holder(self, token: str) -> Person | None:
        """Return the holder of a token, if it is valid and meant for us.

        Raises:
            RequestError: the API server does not respond.
        """
        status = await self._ask(
            TOKENS,
            "TokenReview",
            "authentication.k8s.io/v1",
            {"token": token, "audiences": self._audiences},
        )
        # An authenticator without audiences returns none: its tokens are meant
        # for the API server, and not for us.
        meant = set(self._audiences) & set(status.audiences)
        if not (status.authenticated and status.user.username and meant):
            return None
        user = status.user
        return Person(
            user.username,
            tuple(user.groups),
            user.uid,
            tuple((key, tuple(user.extra[key])) for key in sorted(user.extra)),
        )

    async def may(self, person: Person, right: Right) -> bool:
        """Return whether a person holds a right.

        Raises:
            RequestError: the API server does not respond.
        """
        status = await self._ask(
            ACCESS,
            "SubjectAccessReview",
            "authorization.k8s.io/v1",
            {
                "user": person.name,
                "groups": person.groups,
                "uid": person.uid,
                "extra": dict(person.extra),
                "resourceAttributes": right._asdict(),
            },
        )
        return status.allowed

    async def _ask(
        self, path: str, kind: str, version: str, spec: dict[str, Any]
    ) -> _Status:
        review = {"apiVersion": version, "kind": kind, "spec": spec}
        body = await self._client.review(
            path, msgspec.json.encode(review), what=kind.lower() + "s"
        )
        try:
            return msgspec.json.decode(body, type=_Review).status
        except UNREADABLE as exc:
            raise self._client.bad_answer(path, exc) from exc
