"""What a payload can mean to us: a closed list. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from channels.inbound import Inbound
from channels.slack.parsing.fields import Payload
from channels.slack.parsing.origin import Who
from channels.slack.render.filled import Opened
from channels.slack.tokens import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFile:
    """A file as Slack describes it, before anybody has fetched it."""

    id: str
    name: str
    media_type: str = ""
    kind: str = ""
    """Slack's own `filetype`: `python`, `csv`, `pdf`."""
    size: int = 0
    url: str = ""
    is_hidden: bool = False
    """Shared from another organisation: Slack tells more only when asked (`files.info`)."""
    is_gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Where somebody can be told something in private."""

    user: str
    channel: str = ""
    root: str = ""
    message: str = ""
    """The message that was clicked."""
    response_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Something for the intake."""

    inbound: Inbound
    who: Who
    told: Told
    files: tuple[SharedFile, ...] = ()
    is_command: bool = False
    """It is answered at once, where it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicked:
    """A button below a question. What it comes to depends on the question as it is now."""

    action: Action
    at: str
    """Slack's time of the click: the same in every copy."""
    place: str
    who: Who
    told: Told
    trigger: str
    """Opens a modal, within three seconds."""
    is_at_home: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A form that was sent off."""

    opened: Opened
    """What it was opened for, as we signed it then."""
    view: Payload
    who: Who
    told: Told


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The shortcut "ask the agent about this": a modal must come first."""

    who: Who
    told: Told
    trigger: str
    quote: str
    author: str
    """The id of whoever wrote what is quoted; a bot may have none."""
    author_name: str = ""
    """A bot's own word for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeOpened:
    """Somebody looks at our App Home."""

    who: Who


@dataclass(frozen=True, slots=True, kw_only=True)
class Uninstalled:
    """We have lost a workspace."""

    team: str
    enterprise: str
    """Only where the app was installed for the whole organisation."""
    at: float = 0.0
    """When, in seconds since 1970: an installation that is younger stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Nothing that can be taken, and somebody should know why."""

    told: Told
    words: str
    is_modal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotForUs:
    """Nothing to do; the reason is for the log."""

    reason: str


Meaning: TypeAlias = (
    Taken | Clicked | Filled | Asked | HomeOpened | Uninstalled | Explained | NotForUs
)
