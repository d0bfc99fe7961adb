"""The app's own secrets, for methods that need them instead of a token."""

from __future__ import annotations

from channels.slack.double.api.call import Args
from channels.slack.double.errors import ApiError
from channels.slack.double.world import World


def check_app(world: World, args: Args) -> None:
    """Refuse whoever is not the app."""
    own = world.credentials
    if args.text("client_id") != own.client_id:
        raise ApiError("invalid_client_id")
    if args.text("client_secret") != own.client_secret:
        raise ApiError("bad_client_secret")
