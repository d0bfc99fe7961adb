"""What `/metrics` shows of HTTP itself; others may add their own to the same registry.

Labels come from the table of routes and never from what was sent, so their number is bounded.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60)


class Meters:
    """Counts of requests, their times, and the streams that are open."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._requests = Counter(
            "parley_http_requests",
            "Requests, by route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "parley_http_request_seconds",
            "How long requests took, by route.",
            ("route",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.streams = Gauge(
            "parley_http_streams", "Event streams that are open.", registry=self.registry
        )

    def count(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request that was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> str:
        """Show everything in the registry."""
        return generate_latest(self.registry).decode()
