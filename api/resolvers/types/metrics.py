"""Metrics that were kept with incidents."""

from collections.abc import Sequence

from api.resolvers.types.publishing import publish
from recorder.answers.charts import Chart, ChartLine, MetricSeries
from recorder.answers.metrics import KeptMetrics, LackingMetric, Metrics

__all__ = ["KeptMetrics", "Metrics"]

publish(MetricSeries)
publish(LackingMetric)
publish(ChartLine)
publish(Chart)


class _Drawn:
    """What GraphQL adds."""

    charts: Sequence[Chart]
    """The series of each metric, drawn together."""


publish(KeptMetrics, adds=_Drawn)
publish(Metrics, without=["question"])
