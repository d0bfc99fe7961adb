"""`contact_human`: how a model asks people, as a tool call like any other."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from agent_core.thread.questions import Option, Urgency
from agent_core.tools.context import ToolContext
from agent_core.tools.tool import tool


class OfferedOption(BaseModel):
    """One answer to choose from."""

    name: str
    description: str = ""


@tool(idempotent=True)
async def contact_human(
    ctx: ToolContext,
    *,
    question: Annotated[str, Field(description="What you want to know, in one or two sentences.")],
    context: Annotated[
        str, Field(description="What the person needs to know to answer without asking back.")
    ] = "",
    kind: Annotated[
        Literal["text", "yes/no", "choice", "form"], Field(description="The answer's shape.")
    ] = "text",
    options: Annotated[
        list[OfferedOption | str] | None, Field(description="For kind choice: what to choose from.")
    ] = None,
    schema: Annotated[
        dict[str, Any] | None, Field(description="For kind form: a JSON schema of an object.")
    ] = None,
    urgency: Annotated[Urgency, Field(description="How soon an answer is needed.")] = "normal",
    to: Annotated[
        list[str] | None,
        Field(description="Names or roles of whom to ask; leave out to ask whoever started this."),
    ] = None,
    wait: Annotated[
        bool,
        Field(description="False to go on meanwhile; the answer then comes as a later message."),
    ] = True,
) -> str:
    """Ask a person and wait for the answer, however long it takes.

    Use it when you need a decision, a fact that only people know, or their consent.
    """
    asked: dict[str, Any] = {"context": context, "options": _offered(options), "schema": schema}
    if wait:
        payload = {"prompt": question, **asked}
        await ctx.pause_for(kind, payload, to=to or (), urgency=urgency)
    posted = ctx.post(question, kind=kind, to=to or (), urgency=urgency, **asked)
    return f"Asked (question {posted}). Go on; the answer will come as a message."


def _offered(options: list[OfferedOption | str] | None) -> list[Option]:
    return [
        Option(option) if isinstance(option, str) else Option(option.name, option.description)
        for option in options or ()
    ]
