"""What the playground's model says. It is a script, and tells so; it reads its tools' results.

A turn is decided by what came after the last thing that a person said, so a conversation can go on.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_core import ModelReply, ModelRequest, ScriptedModel, call, calls, says

ORDER, VERSION, EARLIER = "1042", "2.4.0", "2.3.9"
REFUND = f"Please refund order {ORDER}, the blender arrived broken."
RELEASE = f"please release {VERSION}"
SCRIPTED = "(I am a script, not a real model.)"
_VERSION = re.compile(r"\b\d+\.\d+(?:\.\d+)?\b")
_ORDER = re.compile(r"\border (\d{1,10})\b", re.IGNORECASE)
_FAILED = re.compile(r"\b(ended with|failed|failure|roll (it )?back)\b", re.IGNORECASE)

Reply = Callable[[ModelRequest], ModelReply]


def model_for(reply: Reply, environ: Mapping[str, str] = os.environ) -> ScriptedModel | None:
    """Give a script; or nothing where a real model is set, which is then the agent's own choice."""
    is_real = environ.get("OPENAI_API_KEY") or environ.get("OPENAI_BASE_URL")
    return None if is_real else ScriptedModel(reply)


def desk_reply(request: ModelRequest) -> ModelReply:
    """Look up, refund, report."""
    asked, results = _turn(request)
    order = (_ORDER.findall(asked) or [ORDER])[-1]
    match results:
        case []:
            words = f"{SCRIPTED} I look up order {order} first."
            return calls(call("look_up_order", order=order), text=words)
        case [found] if "paid" in found:
            paid = json.loads(found)
            words = f"The {paid['item']} was paid and delivered. I want to pay it back."
            return calls(call("refund", order=order, amount=paid["paid"]), text=words)
        case [found]:
            return says(f"{SCRIPTED} I can't refund order {order}: {json.loads(found)['status']}.")
        case _:
            return says(_report(results[-1], done="Sorry about that!", undone="Nothing was paid."))


def release_reply(request: ModelRequest) -> ModelReply:
    """Look at the pipeline, roll out or back, report."""
    asked, results = _turn(request)
    is_failure = _FAILED.search(asked) is not None
    version = EARLIER if is_failure else (_VERSION.findall(asked) or [""])[-1]
    if not version:
        return says(f"{SCRIPTED} I know one sentence: “{RELEASE}”.")
    match results:
        case []:
            words = f"{SCRIPTED} I look at the pipeline first."
            return calls(call("check_pipeline", version=version), text=words)
        case [_] if is_failure:
            words = f"The build on main is broken. I want to bring {version} back."
            return calls(call("roll_back", version=version), text=words)
        case [_]:
            words = f"The tests of {version} are green. I want to put it on every machine."
            return calls(call("deploy", version=version), text=words)
        case _:
            return says(_report(results[-1], done="Done:", undone="Nothing was changed."))


def _turn(request: ModelRequest) -> tuple[str, list[str]]:
    """Give what was last asked, and the results that there are since."""
    messages: Sequence[Mapping[str, Any]] = request.messages
    last = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=0)
    results = [str(one["content"]) for one in messages[last:] if one["role"] == "tool"]
    return str(messages[last]["content"]), results


def _report(result: str, *, done: str, undone: str) -> str:
    """Tell what became of it."""
    last = result.splitlines()[-1] if result else ""
    if result.startswith("Denied"):
        _, _, reason = result.partition("They said: ")
        return f"{undone} " + (f"The lead says: {reason}" if reason else "The lead said no.")
    changed = " The lead changed something first." if result.startswith("(Approved") else ""
    return f"{done} {last}{changed}"
