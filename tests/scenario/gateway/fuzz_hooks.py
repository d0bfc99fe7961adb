"""What schemathesis can't make up: a cursor, an answer that fits, a callback, a thread to import.

Loaded by schemathesis in its own process. Requests that are to be accepted get a real value in
place of the made-up one; those that are to be refused stay as they are.
"""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import schemathesis

_REAL = json.loads(os.environ["REAL_VALUES"])
_numbers = itertools.count()


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:  # noqa: ANN401 (theirs)
    """Put real values into what is to be accepted."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    path = case.operation.path
    cursors = _REAL["cursors"].get(path)
    if cursors and "cursor" in (case.query or {}):
        case.query["cursor"] = cursors[next(_numbers) % len(cursors)]
    if path.endswith("/answer") and isinstance(case.body, dict):
        case.body["value"] = {"approved": next(_numbers) % 2 == 0}
    for field in ("callback_url", "url"):
        if isinstance(case.body, dict) and field in case.body:
            case.body[field] = "https://ci.example.com/in"
    if path.endswith("/import"):
        case.body = _thread()


def _thread() -> Any:  # noqa: ANN401 (any JSON)
    """Give a thread that is not there yet: another one under a new id."""
    fresh = f"{_REAL['exported']}{next(_numbers)}"
    return json.loads(_REAL["export"].replace(_REAL["exported"], fresh))
