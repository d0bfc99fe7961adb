"""Where messages end up: servers of Slack, of mail and of callbacks, which no crash of ours ends.

They take what reaches them and keep it as people see it. Here one can look whether a card still has
its buttons, and who was told what. Who reads it is in `people.py`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from channels.outgoing import Outgoing, QuestionCard

ASKING = frozenset({"question.asked", "question.reminded", "question.escalated"})


@dataclass
class Post:
    """A message as it stands somewhere, for people to see."""

    number: int
    channel: str
    address: str
    delivery: str
    thread: str
    kind: str
    question: str
    status: str
    """How its question stands, as it shows it; empty for what asks nothing."""
    at: float
    has_bounced: bool = False
    card: QuestionCard | None = None
    """As it was sent."""
    shown: list[str] = field(default_factory=list)
    """What it was changed to, or what followed it, in order."""

    @property
    def audience(self) -> tuple[str, ...]:
        """Who is asked."""
        return tuple(self.card.audience) if self.card else ()

    @property
    def is_live(self) -> bool:
        """Whether it has buttons."""
        return self.kind in ASKING and self.status == "open"


@dataclass(frozen=True)
class Ran:
    """A tool has had an effect."""

    tool: str
    thread: str
    call: str
    key: str
    token: str
    machine: str
    at: float


class Outside:
    """The servers of others."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.posts: list[Post] = []
        self.ran: list[Ran] = []
        self.undone: list[str] = []
        self.down_until: dict[str, float] = {}
        self.gone: set[str] = set()
        """Addresses that nobody lives at."""
        self.on_post: Callable[[Post], None] = lambda _post: None
        self._now = now
        self._by_delivery: defaultdict[tuple[str, str], list[Post]] = defaultdict(list)
        self._numbers = itertools.count(1)

    def is_down(self, channel: str) -> bool:
        """Tell whether a server answers with errors just now."""
        return self.down_until.get(channel, 0.0) > self._now()

    def find(self, message: Outgoing) -> int | None:
        """Look for a message by the id that it carries."""
        found = self._by_delivery[message.thread, message.id]
        return found[0].number if found else None

    def copies(self, number: int) -> list[int]:
        """Give every message that carries the same id as this one."""
        one = self.posts[number - 1]
        return [post.number for post in self._by_delivery[one.thread, one.delivery]]

    def post(self, channel: str, message: Outgoing) -> int:
        """Take a message."""
        card = message.question
        post = Post(
            number=next(self._numbers),
            channel=channel,
            address=message.address,
            delivery=message.id,
            thread=message.thread,
            kind=message.kind,
            question=card.id if card else "",
            status=card.status if card else "",
            at=self._now(),
            card=card,
        )
        self.posts.append(post)
        self._by_delivery[message.thread, message.id].append(post)
        self.on_post(post)
        return post.number

    def change(self, number: int, card: QuestionCard) -> None:
        """Show in a message how its question stands now."""
        post = self.posts[number - 1]
        post.shown.append(card.status)
        post.status = card.status

    def follow(self, number: int, card: QuestionCard) -> None:
        """Send a message after another: what was sent can't be changed."""
        self.posts[number - 1].shown.append(card.status)
