"""`/openapi.json`: OpenAPI 3.1, made from the table of routes and the views. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import models_json_schema

from gateway.http import problems
from gateway.http.routes import AnyRoute, NoBody, RawBody

Schema: TypeAlias = dict[str, Any]
_Mode: TypeAlias = Literal["validation", "serialization"]

_TEXT = r"^[^\u0000]*$"
"""Databases take any text but NUL; whoever generates requests from this should know."""

_JSON = {"$ref": "#/components/schemas/Json"}
_OBJECT = {
    "type": "object",
    "propertyNames": {"pattern": _TEXT},
    "additionalProperties": _JSON,
}
_FREE_JSON: Schema = {
    "Json": {
        "description": "Any JSON whose text has no NUL.",
        "anyOf": [
            {"type": ["null", "boolean", "number"]},
            {"type": "string", "pattern": _TEXT},
            {"type": "array", "items": _JSON},
            _OBJECT,
        ],
    }
}
_RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
_HEADERS: dict[int, Schema] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    403: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    429: _RETRY,
    503: _RETRY,
}
_REQUEST_ID = {
    "X-Request-Id": {
        "description": "The request, as the log names it.",
        "schema": {"type": "string"},
    }
}


class Place(BaseModel):
    """One place of a request that does not fit."""

    at: str
    problem: str


class ProblemDetails(BaseModel):
    """RFC 9457; `type` is stable, the words are for people."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[Place] = []


def describe(routes: Sequence[AnyRoute], *, version: str) -> Schema:
    """Give the whole document."""
    paths: Schema = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Parley",
            "version": version,
            "description": "A gateway between people and AI agents.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {**_FREE_JSON, **_schemas(routes)},
            "responses": {f"Problem{status}": _problem(status) for status in _statuses(routes)},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: AnyRoute) -> Schema:
    answers = {str(status): _answer(route) for status in route.status}
    refusals = {
        str(status): {"$ref": f"#/components/responses/Problem{status}"}
        for status in route.problem_statuses()
    }
    operation: Schema = {
        "operationId": f"{route.run.__module__.rpartition('.')[2]}_{route.run.__name__}",
        "summary": route.summary,
        "parameters": _parameters(route),
        "responses": {**answers, **refusals},
        "security": [{"key": [scope]} for scope in route.scopes],
    }
    if route.reads_body and route.body is not NoBody:
        operation["requestBody"] = _request_body(route)
    return operation


def _request_body(route: AnyRoute) -> Schema:
    schema = _OBJECT if route.body is RawBody else _ref(route.body)
    return {"required": route.body_needed, "content": {"application/json": {"schema": schema}}}


def _answer(route: AnyRoute) -> Schema:
    view = _ref(route.gives) if route.gives else {"type": "object"}
    content = {
        one: {"schema": view if one == "application/json" else {"type": "string"}}
        for one in route.content_types
    }
    return {"description": route.summary, "headers": _REQUEST_ID, "content": content}


def _parameters(route: AnyRoute) -> list[Schema]:
    found = [_path_parameter(route)] if route.has_id else []
    for name, schema in route.query.model_json_schema().get("properties", {}).items():
        found.append({"name": name, "in": "query", "schema": schema})
    if route.idempotent_by_key:
        found.append(_header("Idempotency-Key", r"^[\x21-\x7e]{1,255}$"))
    if route.reads_last_event_id:
        found.append(_header("Last-Event-ID", r"^[0-9]{0,9}$"))
    return found


def _path_parameter(route: AnyRoute) -> Schema:
    name = route.path.partition("{")[2].partition("}")[0]
    schema = {"type": "string", "minLength": 1, "maxLength": 500}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _header(name: str, pattern: str) -> Schema:
    return {"name": name, "in": "header", "schema": {"type": "string", "pattern": pattern}}


def _statuses(routes: Iterable[AnyRoute]) -> list[int]:
    return sorted({status for route in routes for status in route.problem_statuses()})


def _problem(status: int) -> Schema:
    kinds = [one for one in vars(problems).values() if isinstance(one, problems.Kind)]
    names = [f"`/problems/{one.name}`: {one.title}" for one in kinds if one.status == status]
    return {
        "description": "; ".join(names),
        "headers": {**_REQUEST_ID, **_HEADERS.get(status, {})},
        "content": {"application/problem+json": {"schema": _ref(ProblemDetails)}},
    }


def _ref(view: type[BaseModel]) -> Schema:
    return {"$ref": f"#/components/schemas/{view.__name__}"}


def _schemas(routes: Sequence[AnyRoute]) -> Schema:
    asked = {route.body for route in routes if route.reads_body} - {NoBody, RawBody}
    given = {route.gives for route in routes if route.gives} | {ProblemDetails}
    return {
        **{name: _only_storable(one) for name, one in _definitions(asked, "validation").items()},
        **_definitions(given, "serialization"),
    }


def _definitions(views: Iterable[type[BaseModel]], mode: _Mode) -> Schema:
    ordered = sorted(views, key=lambda view: view.__name__)
    _, found = models_json_schema(
        [(view, mode) for view in ordered], ref_template="#/components/schemas/{model}"
    )
    definitions: Schema = found.get("$defs", {})
    return definitions


def _only_storable(schema: Schema) -> Schema:
    """Say of a request's free text and JSON what can be stored."""
    fields = {name: _storable(one) for name, one in schema["properties"].items()}
    return {**schema, "properties": fields}


def _storable(field: Schema) -> Schema:
    if field.get("type") == "string":
        return {**field, "not": {"pattern": r"\u0000"}}
    if field.get("type") == "object":
        return {**field, **_OBJECT}
    return field if {"type", "anyOf", "$ref"} & field.keys() else {**field, **_JSON}
