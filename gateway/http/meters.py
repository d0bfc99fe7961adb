"""What `/metrics` shows of HTTP itself; others may add their own to the same registry.

Labels come from the table of routes and never from what was sent, so their number is bounded.
Counting is adding to plain numbers: every request is counted, and few are looked at. Prometheus'
library is loaded when somebody looks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING

from gateway.telemetry.figures import Figures

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import HistogramMetricFamily, Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60)
_BOUNDS = (*(str(float(bound)) for bound in _BUCKETS), "+Inf")


class _Times:
    """How long the requests of one route took."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * len(_BOUNDS)
        self.seconds = 0.0


class Meters:
    """Counts of requests, their times, and the streams that are open."""

    def __init__(
        self, registry: CollectorRegistry | None = None, figures: Figures | None = None
    ) -> None:
        self._registry = registry
        self._figures = figures or Figures()
        self._requests: dict[tuple[str, str, int], int] = {}
        self._times: dict[str, _Times] = {}
        self._streams = 0
        self.callbacks: Mapping[str, int] = {}
        """Endpoints of callbacks by their status, as somebody has just counted them."""
        self.policy_reports = 0
        """What browsers told of our pages' policy: each is a defect, or an attack."""
        if registry is not None:
            registry.register(self)

    @property
    def registry(self) -> CollectorRegistry:
        """Where others may add their own."""
        if self._registry is None:
            from prometheus_client import CollectorRegistry  # noqa: PLC0415 - see above

            self._registry = CollectorRegistry()
            self._registry.register(self)
        return self._registry

    def count(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request that was answered."""
        labels = (method, route, status)
        self._requests[labels] = self._requests.get(labels, 0) + 1
        times = self._times.get(route)
        if times is None:
            times = self._times[route] = _Times()
        times.seconds += seconds
        times.buckets[bisect_left(_BUCKETS, seconds)] += 1

    @contextmanager
    def streaming(self) -> Iterator[None]:
        """Count a stream as open while inside."""
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    def text(self) -> str:
        """Show everything in the registry."""
        from prometheus_client import generate_latest  # noqa: PLC0415 - see above

        return generate_latest(self.registry).decode()

    def collect(self) -> Iterator[Metric]:
        """Give the figures as Prometheus' library takes them."""
        from prometheus_client.metrics_core import (  # noqa: PLC0415 - see above
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        requests = CounterMetricFamily(
            "parley_http_requests",
            "Requests, by route and status.",
            labels=("method", "route", "status"),
        )
        for (method, route, status), number in self._requests.items():
            requests.add_metric((method, route, str(status)), number)
        yield requests
        seconds = HistogramMetricFamily(
            "parley_http_request_seconds", "How long requests took, by route.", labels=("route",)
        )
        self._add_times(seconds)
        yield seconds
        yield GaugeMetricFamily(
            "parley_http_streams", "Event streams that are open.", value=self._streams
        )

        yield CounterMetricFamily(
            "parley_policy_reports",
            "Reports by browsers that a page's security policy stopped something.",
            value=self.policy_reports,
        )
        yield CounterMetricFamily(
            "parley_unreached",
            "Questions and results that reached nobody, in this process.",
            value=self._figures.unreached,
        )
        up = GaugeMetricFamily(
            "parley_channel_up", "1 where a channel can be reached, else 0.", labels=("channel",)
        )
        for name, trouble in self._figures.troubles.items():
            up.add_metric((name,), 0 if trouble else 1)
        yield up
        endpoints = GaugeMetricFamily(
            "parley_callback_endpoints",
            "Endpoints of callbacks in trouble, by status.",
            labels=("status",),
        )
        for name, number in self.callbacks.items():
            endpoints.add_metric((name,), number)
        yield endpoints

    def _add_times(self, family: HistogramMetricFamily) -> None:
        for route, times in self._times.items():
            up_to = zip(_BOUNDS, accumulate(times.buckets), strict=True)
            family.add_metric(
                (route,), [(name, float(many)) for name, many in up_to], times.seconds
            )
