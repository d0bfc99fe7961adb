"""What somebody changed before they approved: argument by argument, for people to read. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from agent_core.json_values import Json, JsonObject, compact

_LONGEST = 200


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One argument that is not as it was; nested ones are named by their way, as in `to.city`."""

    name: str
    before: Json = None
    after: Json = None
    was_there: bool = True
    is_there: bool = True

    def words(self) -> str:
        """Say it in a line: `amount: 49.9 → 20`."""
        before = _shown(self.before) if self.was_there else "(nothing)"
        after = _shown(self.after) if self.is_there else "(removed)"
        return f"{self.name}: {before} → {after}"


def changes(before: JsonObject, after: JsonObject) -> tuple[Change, ...]:
    """Tell what is other than it was: objects name by name, everything else as a whole."""
    return tuple(_changes(before, after, ""))


def approved_changes(arguments: JsonObject | None, value: Json) -> tuple[Change, ...]:
    """Tell what an approval changed of the arguments that it was asked for."""
    match value:
        case {"approved": True, "arguments": dict(edited)}:
            return changes(arguments or {}, edited)
    return ()


def _changes(before: JsonObject, after: JsonObject, way: str) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        path = f"{way}{name}"
        if name not in after:
            yield Change(name=path, before=before[name], is_there=False)
        elif name not in before:
            yield Change(name=path, after=after[name], was_there=False)
        elif isinstance(before[name], dict) and isinstance(after[name], dict):
            yield from _changes(before[name], after[name], f"{path}.")
        elif not _is_same(before[name], after[name]):
            yield Change(name=path, before=before[name], after=after[name])


def _is_same(one: Json, other: Json) -> bool:
    """Compare as JSON is written: in Python, `1` is `True` and `1.0`."""
    return compact(one) == compact(other)


def _shown(value: Json) -> str:
    text = compact(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
