"""`parley people`: who `parley.toml` lists, and whether they can be reached."""

from __future__ import annotations

from gateway.cli.options import AsJson, group

app = group("people", "People that parley.toml lists.")


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the people, with the ways to them in the order that they prefer."""
    from gateway.cli.doing import people  # noqa: PLC0415

    people.list_(as_json=as_json)


@app.command()
def check(*, as_json: AsJson = False) -> None:
    """Tell who can't be reached, and names that lead nowhere; exit 1 if there are any."""
    from gateway.cli.doing import people  # noqa: PLC0415

    people.check(as_json=as_json)
