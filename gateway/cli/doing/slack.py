"""`parley slack manifest`: what it prints."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from channels.slack.manifest import manifest
from gateway.cli.doing import screen
from gateway.settings.environment import Settings, SettingsError, load


def print_manifest(*, name: str, socket: bool, oauth: bool) -> None:
    """Print it on stdout, and what to do with it on stderr."""
    url = load(Settings).public_url
    if not url and (oauth or not socket):
        raise SettingsError(
            "PARLEY_PUBLIC_URL is not set, and Slack must know where to reach the server, like "
            "https://parley.example.com; without such an address use --socket"
        )
    if url and urlsplit(url).scheme != "https":
        screen.say("Slack only talks to https addresses; this one is not.")
    made = manifest(name=name, public_url=url, socket_mode=socket, oauth=oauth)
    screen.data(json.dumps(made, indent=2, ensure_ascii=False))
    screen.say("Make the app: api.slack.com/apps, Create New App, From a manifest, JSON.")
