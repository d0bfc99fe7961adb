"""What became of a kill, in sentences, from the server's own log. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.playground.scene import Json, Life, Scene, Seen, at


def accounts(scene: Scene) -> list[str]:
    """Tell of each kill what it hit, and how it went on."""
    return [_told(scene, life, after) for life, after in scene.kills()]


def _told(scene: Scene, life: Life, after: Life | None) -> str:
    moment = life.ended or 0.0
    parts = [f"Process {life.pid} was killed {_at_what(scene, moment)}."]
    if after is None or after.ready is None:
        return f"{parts[0]} It is being started again …"
    parts.append(f"Process {after.pid} answered {after.ready - moment:.1f} s later.")
    for seen in scene.threads:
        parts.extend(_carried(seen, moment))
    return " ".join(parts)


def _at_what(scene: Scene, moment: float) -> str:
    for seen in scene.threads:
        if started := seen.running_at(moment):
            return f"in the middle of {tool_of(seen, started)} (event {started['seq']})"
    for seen in scene.threads:
        if question := seen.open_at(moment):
            return f"while “{question['prompt']}” waited"
    return "while nothing was under way"


def _carried(seen: Seen, moment: float) -> Iterator[str]:
    """Tell what the thread did after a kill that hit it."""
    if started := seen.running_at(moment):
        again = [one for one in seen.of("ToolStarted") if at(one) > moment and _same(one, started)]
        ended = [one for one in seen.of("ToolReturned") if _same(one, started)]
        if again:
            key = f"{seen.id}/{started['call']}"
            yield (
                f"It found the call without a result and, as the tool is idempotent, ran it again "
                f"with the same key, {key} (event {again[0]['seq']})."
            )
        if ended:
            yield f"Result: {ended[0]['result']}"
    elif question := seen.open_at(moment):
        answers = [one for one in seen.of("QuestionAnswered") if one["question"] == question["id"]]
        yield "The question was still open" + (
            f", and {answers[0]['by']} answered it." if answers else "."
        )


def _same(event: Json, started: Json) -> bool:
    return bool(event["call"] == started["call"])


def tool_of(seen: Seen, event: Json) -> str:
    """Name the tool of a call."""
    seq, _, index = str(event["call"]).partition(".")
    for reply in seen.of("ModelReplied"):
        if str(reply["seq"]) == seq:
            return str(reply["calls"][int(index)]["tool"])
    return f"call {event['call']}"
