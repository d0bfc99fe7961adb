"""Fingerprints that bind an approval to exactly what was approved."""

from __future__ import annotations

import hashlib

from agent_core.json_values import JsonObject, canonical


def approval_digest(tool: str, signature: str, arguments: JsonObject) -> str:
    """Bind a tool, the shape of its parameters, and its arguments together."""
    return hashlib.sha256(canonical([tool, signature, arguments])).hexdigest()[:32]


def signature_digest(parameters: JsonObject) -> str:
    """Fingerprint a tool's parameters: names, types and which are required, but not prose."""
    return hashlib.sha256(canonical(_shape(parameters))).hexdigest()[:12]


_PROSE = frozenset({"title", "description", "examples"})


def _shape(schema: object) -> object:
    if isinstance(schema, list):
        return [_shape(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # Under "properties" the keys are the author's names, and one may well be called "title".
    return {
        key: {name: _shape(part) for name, part in value.items()}
        if key in ("properties", "$defs") and isinstance(value, dict)
        else _shape(value)
        for key, value in schema.items()
        if key not in _PROSE
    }
