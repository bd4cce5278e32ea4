"""Metrics that were kept with incidents."""

from api.resolvers.types.publishing import publish
from recorder.answers.metrics import (
    KeptMetrics,
    LackingMetric,
    Metrics,
    MetricSeries,
)

__all__ = ["KeptMetrics", "Metrics"]

publish(MetricSeries)
publish(LackingMetric)
publish(KeptMetrics)
publish(Metrics, without=["question"])
