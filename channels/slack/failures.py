"""What a refused call means, by who must act: nobody can (give up), time (try later), or we.

The names are Slack's. One that isn't known here may pass, so it is tried again; the sender's own
bound ends that.
"""

from __future__ import annotations

from typing import Final

from slack_sdk.errors import SlackApiError

from channels.channel import ChannelError, GiveUp, TryLater
from channels.slack.clients import error_name, retry_after

GONE: Final = frozenset(
    {"message_not_found", "channel_not_found", "thread_not_found", "cant_update_message"}
    | {"edit_window_closed", "is_archived", "is_inactive", "not_in_channel"}
)
"""There is nothing left to change: fine for whoever only wanted to change it."""

_FINAL: Final = frozenset(
    {"account_inactive", "invalid_auth", "not_authed", "token_revoked", "token_expired"}
    | {"team_not_found", "team_access_not_granted", "not_allowed_token_type", "access_denied"}
    | {"cannot_dm_bot", "cannot_reply_to_message", "ekm_access_denied", "invalid_thread_ts"}
    | {"messages_tab_disabled", "no_permission", "restricted_action", "user_disabled"}
    | {"restricted_action_non_threadable_channel", "restricted_action_read_only_channel"}
    | {"restricted_action_thread_locked", "restricted_action_thread_only_channel"}
    | {"user_not_found", "user_not_visible", "users_not_found", "method_not_supported_for_channel"}
    | (GONE - {"cant_update_message", "edit_window_closed"})
)
_OURS: Final = frozenset(
    {"invalid_blocks", "invalid_blocks_format", "invalid_arguments", "invalid_metadata_format"}
    | {"invalid_metadata_schema", "markdown_text_conflict", "metadata_too_large", "msg_too_long"}
    | {"msg_blocks_too_long", "no_text", "too_many_attachments"}
)


class OurMistake(ChannelError):
    """Slack doesn't take what we made: plain words may still do."""

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class SlackSaid(TryLater):
    """Slack gave an error that may pass; `name` is its word for it."""

    def __init__(self, message: str, *, name: str, retry_after: float | None = None) -> None:
        super().__init__(message, retry_after=retry_after)
        self.name = name


class Refused(GiveUp):
    """Slack says no, and will say it again; `name` is its word for why."""

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


def failure(error: Exception, method: str) -> ChannelError:
    """Translate what the SDK raised."""
    if not isinstance(error, SlackApiError):
        return TryLater(f"Slack can't be reached for {method}: {type(error).__name__}")
    name = error_name(error)
    if name == "missing_scope":
        scope = str(error.response.get("needed") or "?")
        return Refused(f"{method} needs the scope {scope}: add it to the app", name=name)
    if name in _FINAL:
        return Refused(f"Slack refuses {method}: {name}", name=name)
    if name in _OURS:
        return OurMistake(f"Slack does not take what we gave {method}: {name}", name=name)
    seconds = retry_after(error)
    return SlackSaid(f"Slack says {name} to {method}", name=name, retry_after=seconds)
