"""`parley threads`: look at threads, and steer them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import AsJson, Cursor, DryRun, Limit, ThreadId, Yes, group

app = group("threads", "Look at threads, and steer them.")

Reason = Annotated[str, typer.Option(help="Why; people and the log are told.")]


@app.command("list")
def list_(
    *,
    status: Annotated[str, typer.Option(help="Only these, such as waiting or failed.")] = "",
    agent: Annotated[str, typer.Option(help="Only those of this agent.")] = "",
    cursor: Cursor = "",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List threads, newest first."""
    from gateway.cli.doing import threads  # noqa: PLC0415

    query = {"status": status, "agent": agent, "cursor": cursor, "limit": limit}
    threads.list_(query, as_json=as_json)


@app.command()
def show(
    thread: ThreadId,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on live until the thread is over.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell a thread's story; with --json the thread, and with --follow too its events."""
    from gateway.cli.doing import threads  # noqa: PLC0415

    threads.show(thread, follow=follow, as_json=as_json)


@app.command()
def pause(thread: ThreadId, *, reason: Reason = "", as_json: AsJson = False) -> None:
    """Hold a thread where it is."""
    _steer("pause", thread, {"reason": reason}, as_json=as_json)


@app.command()
def resume(
    thread: ThreadId,
    *,
    instruction: Annotated[str, typer.Option(help="What to bear in mind from here on.")] = "",
    as_json: AsJson = False,
) -> None:
    """Let a paused thread go on."""
    _steer("resume", thread, {"instruction": instruction}, as_json=as_json)


@app.command()
def cancel(thread: ThreadId, *, reason: Reason = "", as_json: AsJson = False) -> None:
    """Stop a thread for good, and undo what can be undone."""
    _steer("cancel", thread, {"reason": reason}, as_json=as_json)


@app.command()
def move(
    thread: ThreadId,
    to: Annotated[str, typer.Argument(metavar="email|slack", help="By which channel.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Let a conversation go on by another channel, with who began it."""
    _steer("move", thread, {"to": to}, as_json=as_json)


@app.command()
def retry(thread: ThreadId, *, as_json: AsJson = False) -> None:
    """Let a failed thread try again from where it stood."""
    _steer("retry", thread, {}, as_json=as_json)


@app.command()
def fork(
    thread: ThreadId,
    *,
    at: Annotated[
        int | None, typer.Option(min=1, metavar="EVENT", help="The last event to copy.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Copy a thread under a new id; prints that id."""
    _steer("fork", thread, {"at": at}, as_json=as_json)


@app.command("export")
def export_(
    thread: ThreadId,
    *,
    markdown: Annotated[bool, typer.Option("--markdown", help="As a story for people.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print a whole thread: as JSON, to be imported elsewhere, or as Markdown."""
    from gateway.cli.doing import threads  # noqa: PLC0415

    if markdown and as_json:
        raise typer.BadParameter("choose one of --json and --markdown")
    threads.export(thread, markdown=markdown)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An exported thread; - for stdin.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Take over a thread from another installation; prints its id."""
    from gateway.cli.doing import threads  # noqa: PLC0415

    threads.import_(file, as_json=as_json)


@app.command()
def purge(
    *,
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Ended so long ago, like 36h, 90d, 12w or 1y.")
    ],
    status: Annotated[
        str, typer.Option(help="Only these: finished, failed, cancelled.")
    ] = "finished,failed,cancelled",
    agent: Annotated[str, typer.Option(help="Only those of this agent.")] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete threads that ended long ago, with all that hangs on them; on the database itself."""
    from gateway.cli.doing import retention  # noqa: PLC0415

    retention.purge(older_than, status, agent, dry_run=dry_run, yes=yes, as_json=as_json)


@app.command()
def archive(
    *,
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Ended so long ago, like 36h, 90d, 12w or 1y.")
    ],
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the files go.")],
    status: Annotated[
        str, typer.Option(help="Only these: finished, failed, cancelled.")
    ] = "finished,failed,cancelled",
    agent: Annotated[str, typer.Option(help="Only those of this agent.")] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Move threads that ended long ago into files, sealed as they are; on the database itself.

    A file is on the disk, read back and found the same before anything leaves the database.
    """
    from gateway.cli.doing import archiving  # noqa: PLC0415

    archiving.archive(older_than, to, status, agent, dry_run=dry_run, yes=yes, as_json=as_json)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive of threads.")],
    threads: Annotated[
        list[str], typer.Argument(metavar="[THREAD]...", help="Which; without any, all of them.")
    ] = [],  # noqa: B006 - typer copies it
    *,
    as_json: AsJson = False,
) -> None:
    """Bring threads back from an archive, under their own ids, if their seals fit."""
    from gateway.cli.doing import archiving  # noqa: PLC0415

    archiving.restore(file, threads, as_json=as_json)


def _steer(verb: str, thread: str, body: dict[str, object], *, as_json: bool) -> None:
    from gateway.cli.doing import threads  # noqa: PLC0415

    threads.steer(verb, thread, body, as_json=as_json)
