"""`parley questions`: what people are being asked."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, Cursor, Limit, group

app = group("questions", "See what people are asked, and answer.")


@app.command("list")
def list_(
    *,
    status: Annotated[str, typer.Option(help="open, answered, expired or withdrawn.")] = "open",
    cursor: Cursor = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List questions, oldest first."""
    from gateway.cli.doing import questions  # noqa: PLC0415

    questions.list_({"status": status, "cursor": cursor, "limit": limit}, as_json=as_json)


@app.command()
def withdraw(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question's id.")],
    *,
    reason: Annotated[str, typer.Option(help="Why; the agent is told.")] = "",
    as_json: AsJson = False,
) -> None:
    """Withdraw a question: nobody need answer it any more, and the agent is told."""
    from gateway.cli.doing import questions  # noqa: PLC0415

    questions.change(question, "withdraw", reason=reason, as_json=as_json)


@app.command("take-back")
def take_back(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question's id.")],
    *,
    reason: Annotated[str, typer.Option(help="Why; it stays in the log.")] = "",
    as_json: AsJson = False,
) -> None:
    """Take back an approval of what has not begun to run; it is asked anew."""
    from gateway.cli.doing import questions  # noqa: PLC0415

    questions.change(question, "take-back", reason=reason, as_json=as_json)


@app.command()
def answer(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question's id.")],
    *,
    approve: Annotated[bool, typer.Option("--approve", help="Let it run.")] = False,
    deny: Annotated[bool, typer.Option("--deny", help="Don't; --comment says why.")] = False,
    edit: Annotated[
        list[str],
        typer.Option(metavar="NAME=VALUE", help="With --approve: change this argument."),
    ] = [],  # noqa: B006 - typer copies it
    value: Annotated[
        str | None, typer.Option(metavar="JSON", help="An answer of any kind, as JSON.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="A text, or the name of a choice.")] = None,
    comment: Annotated[str, typer.Option(help="A word with it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Answer a question: --approve, --deny, --value JSON or --text TEXT."""
    from gateway.cli.doing import questions  # noqa: PLC0415

    decision = questions.decision(approve=approve, deny=deny, edit=edit, value=value, text=text)
    questions.answer(question, decision, comment=comment, as_json=as_json)
