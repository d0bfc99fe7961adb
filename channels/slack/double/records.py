"""What a workspace holds: people, channels, messages, views, files. Data, with no behaviour.

How each is written in JSON is in `shown.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

Payload: TypeAlias = dict[str, Any]
"""A JSON object as it goes over the wire."""


@dataclass(slots=True, kw_only=True)
class User:
    """A person, or a bot's user. `team_id` is the home: another one for a Slack Connect guest."""

    id: str
    team_id: str
    name: str
    real_name: str
    email: str | None = None
    is_bot: bool = False
    is_admin: bool = False
    deleted: bool = False
    bot_id: str | None = None
    tz: str = "Europe/Berlin"


@dataclass(slots=True, kw_only=True)
class Bot:
    """The app as a workspace sees it."""

    user: str
    bot_id: str
    app_id: str
    name: str


@dataclass(slots=True, kw_only=True)
class SharedFile:
    """A file that someone shared; its bytes are served to whoever brings a token."""

    id: str
    name: str
    content: bytes
    mimetype: str
    user: str
    created: int
    url_private: str = ""
    access: str = "visible"
    """Slack says `check_file_info` for files from other organisations."""


@dataclass(slots=True, kw_only=True)
class Message:
    """One message; `ts` is its id within the channel."""

    team: str
    channel: str
    ts: str
    text: str = ""
    user: str | None = None
    user_team: str = ""
    bot_id: str | None = None
    app_id: str | None = None
    username: str | None = None
    subtype: str | None = None
    thread_ts: str | None = None
    blocks: list[Payload] = field(default_factory=list)
    attachments: list[Payload] = field(default_factory=list)
    markdown_text: str | None = None
    metadata: Payload | None = None
    files: list[SharedFile] = field(default_factory=list)
    edited: Payload | None = None
    client_msg_id: str | None = None
    ephemeral_to: str | None = None
    reply_broadcast: bool = False
    reactions: dict[str, list[str]] = field(default_factory=dict)
    arguments: Payload = field(default_factory=dict)
    """What the app asked for and the message doesn't show: `unfurl_links`, `icon_emoji`, …"""
    past_blocks: list[list[Payload]] = field(default_factory=list)
    """What stood there before; a client that hasn't caught up yet still shows it."""
    deleted: bool = False
    streaming: bool = False

    def show_blocks(self, blocks: list[Payload]) -> None:
        """Show other blocks, and remember the ones before."""
        if self.blocks and self.blocks != blocks:
            self.past_blocks.append(self.blocks)
        self.blocks = blocks

    @property
    def is_root(self) -> bool:
        """Say whether it stands in the channel itself."""
        return self.thread_ts in (None, self.ts) or self.reply_broadcast


@dataclass(slots=True, kw_only=True)
class Channel:
    """A channel, private channel, direct message or group message, with all that was said."""

    id: str
    name: str
    members: list[str]
    creator: str
    created: int
    is_private: bool = False
    is_im: bool = False
    is_mpim: bool = False
    is_ext_shared: bool = False
    archived: bool = False
    topic: str = ""
    shared_with: list[str] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    threads: dict[str, list[Message]] = field(default_factory=dict)
    """The replies to each root, in order."""
    ephemerals: list[Message] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Say what events call its `channel_type`."""
        if self.is_im:
            return "im"
        if self.is_mpim:
            return "mpim"
        return "group" if self.is_private else "channel"

    @property
    def scope(self) -> str:
        """Say what its scopes are called: the `groups` of `groups:history`."""
        return {"im": "im", "mpim": "mpim", "group": "groups", "channel": "channels"}[self.kind]


@dataclass(slots=True, kw_only=True)
class View:
    """A modal or a home tab, as the app last set it."""

    id: str
    team_id: str
    user: str
    type: str
    hash: str
    blocks: list[Payload]
    app_id: str
    bot_id: str
    callback_id: str = ""
    private_metadata: str = ""
    external_id: str = ""
    title: Payload | None = None
    submit: Payload | None = None
    close: Payload | None = None
    clear_on_close: bool = False
    notify_on_close: bool = False
    root_view_id: str = ""
    previous_view_id: str | None = None
    values: Payload = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    """What the app said is wrong with the last submission, by block."""


@dataclass(slots=True, kw_only=True)
class Stream:
    """A message that grows while the app appends to it."""

    message: Message
    started: float
    recipient_user: str | None = None
    recipient_team: str | None = None
    chunks: list[Payload] = field(default_factory=list)
    state: str = "streaming"
    """`streaming`, `stopped` (by the app), `stopped_by_user` or `expired`."""


@dataclass(slots=True, kw_only=True)
class Status:
    """What stands below a thread while the agent works."""

    channel: str
    thread_ts: str | None
    status: str
    title: str | None = None
    loading_messages: list[str] = field(default_factory=list)
