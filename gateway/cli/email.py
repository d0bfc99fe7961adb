"""`parley email`: what Parley reads in a mail."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("email", "Mail, as Parley reads it.")


@app.callback()
def _email() -> None:
    """Mail, as Parley reads it."""


@app.command()
def inspect(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Raw mails (.eml); - is standard input.")
    ],
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check DKIM signatures ourselves, with keys from DNS.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print one JSON line a mail: from, subject, reply, kind, token, authenticated, attachments."""
    from gateway.cli.doing import inspecting  # noqa: PLC0415

    del as_json  # it is JSON anyway
    inspecting.inspect(files, verify=verify)


@app.command()
def raw(
    mail: Annotated[
        str,
        typer.Argument(metavar="MAIL", help="Its digest or the beginning, Message-ID, or thread."),
    ],
    *,
    file: Annotated[
        int | None, typer.Option("--file", metavar="N", help="Only the file of this number.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a mail as it came, or one of its files. They are kept for 90 days."""
    from gateway.cli.doing import mails  # noqa: PLC0415

    mails.raw(mail, file=file, as_json=as_json)


@app.command()
def aside(*, as_json: AsJson = False) -> None:
    """List the mails that were put aside: forged, automatic, unreadable, from strangers."""
    from gateway.cli.doing import mails  # noqa: PLC0415

    mails.aside(as_json=as_json)
