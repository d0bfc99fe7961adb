"""A Slack on loopback: what the SDK and Bolt talk to when there is no Slack, over real sockets.

Tests and the playground use it, so it ships in the source. It keeps what the app did, lets people
do what people do, and makes the trouble that Slack makes. It knows nothing of Parley: whatever
talks to Slack can talk to it. It must stay on loopback: it checks tokens, but keeps no secrets.
"""

from __future__ import annotations

from channels.slack.double.clicking import AppDidNotAnswer
from channels.slack.double.delivery import Attempt, Delivery
from channels.slack.double.double import SlackDouble
from channels.slack.double.forms import FormRefused
from channels.slack.double.records import Channel, Message, SharedFile, User, View
from channels.slack.double.workspace import Workspace

__all__ = [
    "AppDidNotAnswer",
    "Attempt",
    "Channel",
    "Delivery",
    "FormRefused",
    "Message",
    "SharedFile",
    "SlackDouble",
    "User",
    "View",
    "Workspace",
]
