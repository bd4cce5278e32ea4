"""Questions about nodes and what happened to them.

Separate from their answers, so that the help of a command does not import the
code that answers it.
"""

from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self

from recorder.answers.arguments import (
    INCIDENT_AT,
    NEWEST,
    NODES_AT,
    WINDOW,
    Argument,
    Arguments,
    AtOrWithin,
    Option,
    labels_argument,
    named_object,
    place_argument,
    rack_argument,
)
from recorder.answers.naming import NODE_WORDS, Reference, node_name
from recorder.answers.places import Labels, label_pair
from recorder.model.errors import ConfigError
from recorder.model.outcomes import Cause, Confidence, Happened
from recorder.model.place import Place
from recorder.model.reference import EntryName
from recorder.model.window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactQuestion:
    """Which nodes, and when."""

    nodes: Annotated[
        tuple[str, ...],
        Argument(
            many=True,
            parse=node_name,
            option=Option(metavar="[node/NAME]...", names="nodes"),
            graphql="Node names.",
            agents="",
        ),
    ] = ()
    rack: Annotated[
        str | None,
        rack_argument(
            "Nodes of this rack, or behind this switch, at the time.",
            "Nodes with this rack label then.",
        ),
    ] = None
    place: Annotated[
        Place | None,
        place_argument(
            "Nodes behind this place at the time, such as switch/leaf-7.",
            "Nodes behind this KIND/NAME then, such as switch/leaf-7.",
        ),
    ] = None
    labels: Annotated[
        tuple[tuple[str, str], ...],
        labels_argument(
            "Nodes that had this label at the time; repeatable.",
            graphql="Labels at the time, as `KEY=VALUE`.",
            agents="Nodes with each LABEL=VALUE at the time.",
            parse=label_pair,
        ),
    ] = ()
    window: Annotated[Window, WINDOW]

    def __post_init__(self) -> None:
        """Check that nodes are selected.

        Raises:
            ConfigError: none are.
        """
        if not (self.nodes or self.labels or self.rack or self.place):
            msg = "no nodes selected: give names, a place or labels"
            advice = (
                "written node/NAME, --place KIND/NAME, --rack RACK or"
                " -l LABEL=VALUE"
            )
            raise ConfigError(msg, advice=advice, code="question.selector")

    @property
    def selector(self) -> Labels:
        """What selects nodes besides their names."""
        return Labels(self.rack, self.labels, self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFilter:
    """Which incidents to return; None is no filter."""

    happened: Annotated[
        Container[str] | None,
        Argument(
            takes=Happened,
            many=True,
            option=Option(
                "Only these, such as reboot. Repeatable.", ("--happened",)
            ),
            graphql="Only these values.",
        ),
    ] = None
    causes: Annotated[
        Container[str] | None,
        Argument(
            takes=Cause,
            many=True,
            option=Option(
                "Only these causes, such as gpu-fault. Repeatable.",
                ("--cause",),
            ),
            graphql="Only these causes.",
        ),
    ] = None
    confidence: Annotated[
        Container[str] | None,
        Argument(
            takes=Confidence,
            many=True,
            option=Option(
                "Only with this confidence. Repeatable.", ("--confidence",)
            ),
            graphql="Only these confidence levels.",
        ),
    ] = None
    node: Annotated[
        str | None,
        Argument(
            parse=node_name,
            option=Option(
                "Only incidents of this node.", ("--node",), names="nodes"
            ),
            graphql="Only for this node.",
        ),
    ] = None
    workload: Annotated[
        str | None,
        Argument(
            option=Option(
                "Only incidents that affected a workload whose name contains"
                " this.",
                ("--workload",),
                "NAME",
            ),
            graphql="Only incidents that affected a workload whose"
            " name contains this.",
        ),
    ] = None
    racks: Annotated[
        Collection[str | None] | None,
        Argument(
            many=True,
            null=True,
            option=Option(
                "Only incidents that struck a node of this rack, or behind"
                " this switch.",
                ("--rack",),
            ),
            graphql="Only incidents that struck a node of one of these"
            " racks, or switches; null selects those of no known rack.",
        ),
    ] = None
    place: Annotated[
        Place | None,
        place_argument("Only incidents that struck a node behind this place."),
    ] = None
    namespaces: Annotated[
        Collection[str | None] | None,
        Argument(
            many=True,
            null=True,
            option=Option(
                "Only incidents that affected a workload of this namespace.",
                ("-n", "--namespace"),
            ),
            graphql="Only incidents that affected a workload of one of"
            " these namespaces; null selects those that affected none.",
        ),
    ] = None
    controllers: Annotated[
        Collection[str | None] | None,
        Argument(
            many=True,
            null=True,
            option=Option(
                "Only incidents whose decision this program carried out.",
                ("--controller",),
                "NAME",
            ),
            graphql="Only incidents whose decision one of these"
            " programs carried out; null selects those of no program.",
        ),
    ] = None
    """In these three, None selects incidents that have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentsQuestion:
    """Which incidents, and when."""

    wanted: IncidentFilter = IncidentFilter()
    window: Annotated[Window, WINDOW]
    limit: Annotated[int | None, NEWEST] = None
    """How many of the newest an agent gets."""


ANY = Labels()
ANYTIME = Window()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesQuestion:
    """Which nodes, and when; all by default."""

    names: Annotated[
        Sequence[str],
        Argument(
            many=True,
            parse=node_name,
            option=Option(metavar="[node/NAME]...", names="nodes"),
        ),
    ] = ()
    at: Annotated[datetime | None, NODES_AT] = None
    labels: Annotated[
        Labels,
        Arguments(
            (
                rack_argument(
                    "Only nodes of this rack, or behind this switch."
                ),
                place_argument("Only nodes behind this place."),
                labels_argument(
                    "Only nodes with this label; repeatable.",
                    graphql="Labels, as `KEY=VALUE`.",
                ),
            ),
            lambda _, rack, place, labels: Labels.of(
                rack, place, labels or ()
            ),
        ),
    ] = ANY


class GroupBy(StrEnum):
    """What incidents or workloads are counted by."""

    CAUSE = "cause"
    HAPPENED = "happened"
    NAMESPACE = "namespace"
    """Of the workloads that were affected."""

    RACK = "rack"
    NODE = "node"
    CONTROLLER = "controller"
    """The one that carried out the decision."""

    DAY = "day"
    """On which it began, in UTC."""

    WORKLOAD = "workload"
    """How reliably it ran; so are the following, of workloads."""

    USER = "user"
    """The one who created the workload, by the audit log or by Slurm."""

    PRIORITY = "priority"
    """The PriorityClass of its Pods; the QOS of a job of Slurm."""

    QUEUE = "queue"
    """Of Kueue or Volcano; the partition of a job of Slurm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsQuestion:
    """When, and what to count by."""

    by: Annotated[
        Sequence[GroupBy],
        Argument(
            takes=GroupBy,
            many=True,
            option=Option(
                "What to count by.",
                ("--by",),
                default=GroupBy.CAUSE.value,
                once=True,
            ),
            graphql="What to count by. Default: the cause.",
        ),
    ] = (GroupBy.CAUSE,)
    window: Annotated[Window, WINDOW]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayQuestion:
    """Which node, and when."""

    node: Annotated[
        str,
        Argument(
            required=True,
            parse=node_name,
            option=Option(metavar="node/NAME", names="nodes"),
        ),
    ]
    window: Annotated[Window, WINDOW]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyQuestion(AtOrWithin):
    """Which node, and when."""

    node: Annotated[
        str,
        Argument(
            required=True,
            parse=node_name,
            graphql="`gpu-002` or `node/gpu-002`.",
            agents="Its name, as node/gpu-002.",
        ),
    ]
    at: Annotated[datetime | None, INCIDENT_AT] = None
    window: Annotated[Window, WINDOW]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyWorkloadQuestion(AtOrWithin):
    """Which workload or Pod, and when."""

    object: Annotated[
        Reference,
        named_object(
            "NAME|node/NAME|KIND/NAMESPACE/NAME",
            namespace="Namespace of a workload.",
            graphql="For example `job/train/llm`, or `pod/llm-0` with"
            " `namespace`; a bare name is searched for over kinds and"
            " namespaces.",
            agents="A bare name, as llm-70b, is searched for over kinds and"
            " namespaces; or as kubectl writes it: job/train/llm.",
            parse=Reference.bare,
        ),
    ]
    at: Annotated[datetime | None, INCIDENT_AT] = None
    window: Annotated[Window, WINDOW]


SUBJECT = Argument(
    name="subject",
    option=Option(
        metavar="NAME|node/NAME|KIND/NAMESPACE/NAME|ID", names="objects"
    ),
    graphql="`node/NAME`, `KIND/NAMESPACE/NAME` of a workload, a bare name, or"
    " the id of an incident or of an ending of a workload.",
)


RACK = Argument(
    name="rack",
    option=Option("Report on all nodes of a rack.", ("--rack",)),
    graphql="In place of a subject.",
)


PLACE = place_argument("Report on all nodes behind a place.")


OF_WORKLOAD = Argument(
    name="of_workload",
    takes=bool,
    option=Option(
        "Report on the ending of a workload with this ID, also if an incident"
        " has it.",
        ("--workload",),
    ),
    graphql="Whether the id is that of an ending of a workload, also if an"
    " incident has it.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostmortemQuestion:
    """The subject of a report: exactly one of these, and a window."""

    node: str | None = None
    rack: str | None = None
    place: Place | None = None
    workload: Reference | None = None
    """Without a kind: the node of that name, or else the workload."""

    incident: EntryName | None = None
    """The id of any of its verdicts; or else that of an ending."""

    ending: EntryName | None = None
    """The id of an ending of a workload."""

    window: Window

    @classmethod
    def about(
        cls,
        subject: Annotated[str | None, SUBJECT] = None,
        rack: Annotated[str | None, RACK] = None,
        place: Annotated[Place | None, PLACE] = None,
        *,
        of_workload: Annotated[bool, OF_WORKLOAD] = False,
        window: Annotated[Window, WINDOW],
    ) -> Self:
        """Parse a bare name, ``node/NAME``, ``KIND/NAMESPACE/NAME`` or an id.

        Raises:
            ConfigError: it is none of these, or none or two are set.
        """
        named = [one for one in (subject, rack, place) if one is not None]
        if len(named) != 1:
            raise ConfigError(
                "no subject"
                if not named
                else "two subjects: one report is about one",
                advice="name node/NAME, KIND/NAMESPACE/NAME, the id of an"
                " incident, or a place",
                code="question.postmortem",
            )
        if subject is None:
            return cls(rack=rack, place=place, window=window)
        try:
            name = EntryName.parse(subject)
        except ValueError:
            pass
        else:
            if of_workload:
                return cls(ending=name, window=window)
            return cls(incident=name, window=window)
        one = Reference.bare(subject)
        if one.word.lower() in NODE_WORDS and one.namespace is None:
            return cls(node=one.name, window=window)
        return cls(workload=one, window=window)

    @property
    def log(self) -> int | None:
        """The log that the id names."""
        name = self.incident or self.ending
        return None if name is None else name.log

    @property
    def is_of_place(self) -> bool:
        """Whether it is about all nodes of a rack or behind a place."""
        return self.rack is not None or self.place is not None

    @property
    def words(self) -> str:
        """The subject as command line arguments."""
        if self.rack is not None:
            return f"--rack {self.rack}"
        if self.place is not None:
            return f"--place {self.place}"
        if self.node is not None:
            return f"node/{self.node}"
        if self.ending is not None:
            return f"{self.ending} --workload"
        return str(self.workload or self.incident)

    @property
    def subject(self) -> str | None:
        """The place or the workload in words; None for nodes."""
        if self.is_of_place:
            return str(self.place or f"rack {self.rack}")
        return None if self.workload is None else str(self.workload)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineQuestion:
    """Which node, and when."""

    node: str
    window: Annotated[Window, WINDOW] = ANYTIME


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionsQuestion:
    """Which nodes and conditions, and when."""

    nodes: Annotated[
        Sequence[str],
        Argument(many=True, required=True, graphql="At most 50."),
    ]
    conditions: Annotated[
        Container[str] | None,
        Argument(many=True, graphql="Only these types."),
    ] = None
    window: Annotated[Window, WINDOW] = ANYTIME


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsQuestion:
    """Whose metrics, and when."""

    nodes: Annotated[
        Sequence[str],
        Argument(many=True, required=True, graphql="At most 50."),
    ]
    metrics: Annotated[
        Sequence[str],
        Argument(
            many=True,
            graphql="Names of metrics; `*` for all. Default: those that speak"
            " for or against a fault.",
        ),
    ] = ()
    window: Annotated[Window, WINDOW] = ANYTIME


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadQuestion:
    """Which workload, and the window of its hits."""

    object: Annotated[
        Reference,
        named_object(
            graphql="For example `jobset/train/llm`, or `job/llm` with"
            " `namespace`."
        ),
    ]
    window: Annotated[Window, WINDOW] = ANYTIME


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNamed:
    """Which node the nested fields are about."""

    node: Annotated[
        str,
        Argument(
            required=True,
            parse=node_name,
            graphql="`gpu-002` or `node/gpu-002`.",
            graphql_name="name",
        ),
    ]
