"""`parley db`: what its commands do."""

from __future__ import annotations

import json

from gateway.cli.doing import screen
from gateway.settings.environment import DatabaseSettings, load
from storage.migrations.upgrades import current, upgrade


def upgrade_(*, as_json: bool) -> None:
    """Make the tables, or bring them up to date."""
    url = load(DatabaseSettings).database_url
    with screen.progress("upgrading the database"):
        before = current(url)
        upgrade(url)
        after = current(url)
    told = "was up to date" if before == after else f"upgraded from {before or 'nothing'}"
    screen.say(f"the database has version {after} ({told})")
    if as_json:
        screen.data(json.dumps({"before": before, "version": after}))
