"""Names of objects."""

from typing import Self

from api.describing import described
from recorder.model.reference import ObjectIdentity

__all__ = ["ObjectReference"]


@described
class ObjectReference:
    """An object of the cluster, as the API names it."""

    group: str
    """API group; empty for the core group."""

    kind: str

    namespace: str | None
    """Null for cluster-scoped objects."""

    name: str

    uid: str | None
    """UID; null if the document had none."""

    @classmethod
    def of(cls, identity: ObjectIdentity | None) -> Self | None:
        """Take it from the model."""
        if identity is None:
            return None
        return cls(
            group=identity.group,
            kind=identity.kind,
            namespace=identity.namespace or None,
            name=identity.name,
            uid=identity.uid,
        )
