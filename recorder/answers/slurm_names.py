"""Whose a job of Slurm is: the names that Slurm files it under."""

from collections.abc import Iterable

from recorder.facts.projections import Workload
from recorder.facts.slurm import SLURM_GROUP, SLURM_JOB
from recorder.model.document import Document
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared


class SlurmNames(Document, frozen=True, kw_only=True):
    """The names that Slurm files a job under; null where it has none."""

    name: str | None
    user: str | None
    account: str | None
    partition: str | None
    qos: str | None


def slurm_names(
    workload: Workload, facts: Iterable[StoredFact]
) -> SlurmNames | None:
    """Return the names of a job of Slurm; None of another workload."""
    if workload.kind != SLURM_JOB:
        return None
    for stored in facts:
        thing, detail = stored.fact.object, stored.fact.detail
        if (
            thing is not None
            and (thing.group, thing.uid) == (SLURM_GROUP, workload.uid)
            and isinstance(detail, Appeared)
        ):
            labels = detail.state.labels
            return SlurmNames(
                name=labels.get("name"),
                user=labels.get("user"),
                account=labels.get("account"),
                partition=labels.get("partition"),
                qos=labels.get("qos"),
            )
    return None


def slurm_row(names: SlurmNames) -> str:
    """Return the names in one line."""
    said = [names.name or "without a name"]
    said += [
        f"{word} {value}"
        for word, value in (
            ("user", names.user),
            ("account", names.account),
            ("partition", names.partition),
            ("QOS", names.qos),
        )
        if value
    ]
    return ", ".join(said)
