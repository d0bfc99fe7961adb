"""`/openapi.json` promises what is served, and what is served is promised."""

from __future__ import annotations

import re

import pytest

from gateway.http import problems
from gateway.http.openapi import Schema, describe
from gateway.http.problems import Kind
from gateway.http.table import routes
from tests.unit.gateway.http.house import house


@pytest.fixture
def document() -> Schema:
    """The document as it is served."""
    return describe(routes(metrics=True), version="1.2.3")


def operations(document: Schema) -> list[Schema]:
    """Every operation in it."""
    return [one for path in document["paths"].values() for one in path.values()]


def references(value: object) -> set[str]:
    """Every place that a document refers to."""
    return set(re.findall(r"'\$ref': '([^']+)'", str(value)))


def test_every_call_of_the_design_is_there(document: Schema) -> None:
    """The public surface: a call that goes missing breaks somebody."""
    calls = {f"{m.upper()} {path}" for path, one in document["paths"].items() for m in one}

    assert calls == {
        "POST /v1/threads",
        "GET /v1/threads",
        "DELETE /v1/threads/{thread}",
        "POST /v1/threads/import",
        "GET /v1/threads/{thread}",
        "GET /v1/threads/{thread}/events",
        "GET /v1/threads/{thread}/deliveries",
        "GET /v1/threads/{thread}/export",
        "POST /v1/threads/{thread}/messages",
        "POST /v1/threads/{thread}/move",
        "POST /v1/threads/{thread}/pause",
        "POST /v1/threads/{thread}/resume",
        "POST /v1/threads/{thread}/cancel",
        "POST /v1/threads/{thread}/retry",
        "POST /v1/threads/{thread}/fork",
        "GET /v1/questions",
        "GET /v1/questions/{question}",
        "POST /v1/questions/{question}/answer",
        "POST /v1/questions/{question}/withdraw",
        "POST /v1/questions/{question}/take-back",
        "POST /v1/events",
        "GET /v1/halt",
        "PUT /v1/halt",
        "DELETE /v1/halt",
        "GET /v1/callbacks",
        "POST /v1/callbacks/replay",
        "POST /v1/callbacks/enable",
        "GET /healthz",
        "GET /readyz",
        "GET /metrics",
    }


def test_every_reference_leads_somewhere(document: Schema) -> None:
    """A generator of clients follows each of them."""
    for reference in references(document):
        place = document
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def test_every_operation_has_a_name_of_its_own(document: Schema) -> None:
    """It becomes a method's name in somebody's client."""
    names = [one["operationId"] for one in operations(document)]

    assert len(set(names)) == len(names) == 30


def test_every_problem_that_a_sender_can_cause_is_described(document: Schema) -> None:
    """405 belongs to no operation, and 500 would be our bug."""
    told = str(document["components"]["responses"])
    kinds = [one for one in vars(problems).values() if isinstance(one, Kind)]

    missing = {kind.status for kind in kinds if f"/problems/{kind.name}`" not in told}
    assert missing == {405, 500}


def test_every_call_that_needs_a_key_says_so(document: Schema) -> None:
    """With its scope, and with 401, 403 and 429 among its answers."""
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert bool(operation["security"]) == path.startswith("/v1/")
            assert ({"401", "403", "429"} <= operation["responses"].keys()) == path.startswith(
                "/v1/"
            )


async def test_the_document_is_served_without_a_key() -> None:
    """And every path in it is routed: without a key one hears 401, never 404 or 405."""
    async with house(works=False) as opened:
        served = (await opened.call("GET", "/openapi.json", key="")).json
        for path, methods in served["paths"].items():
            for method in methods:
                answer = await opened.call(
                    method.upper(), path.replace("{", "").replace("}", ""), key=""
                )
                assert answer.status == (401 if path.startswith("/v1/") else 200), (method, path)

    assert served["openapi"] == "3.1.0"
