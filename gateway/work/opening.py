"""How a thread begins: who said what where, and the first two events of its log. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_core.json_values import JsonObject, plain_object
from agent_core.thread.events import (
    Attachment,
    Event,
    MessageReceived,
    Millis,
    ThreadId,
    ThreadLaunched,
)
from storage.values import InboxKey, NewThread


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What it takes to begin a thread, whatever it comes from."""

    agent: str
    text: str
    by: str
    person: str = ""
    """Who that is, where the operator has told us."""
    audience: tuple[str, ...] = ()
    """Who answers questions that name nobody; without it, who began it."""
    origin: str = ""
    """Where the answer goes; without it, the thread itself is where to look."""
    places: tuple[str, ...] = ()
    """Conversations that belong to the thread from now on."""
    watchers: tuple[str, ...] = ()
    """Addresses that hear all that people hear."""
    others: tuple[str, ...] = ()
    """Whom the sender has brought into the conversation."""
    thread_key: str = ""
    attachments: tuple[Attachment, ...] = ()
    metadata: JsonObject = field(default_factory=dict)
    inbox: InboxKey | None = None

    def new_thread(self, thread: ThreadId) -> NewThread:
        """Give the thread's row."""
        return NewThread(
            agent=self.agent,
            origin=self.address(thread),
            requester=self.by,
            thread_key=self.thread_key,
        )

    def events(self, thread: ThreadId, now: Millis) -> list[Event]:
        """Give the first events: it was launched, and this was said."""
        return [
            ThreadLaunched(
                at=now,
                thread=thread,
                agent=self.agent,
                requester=self.by,
                person="" if self.person == self.by else self.person,
                audience=self.audience,
                origin=self.address(thread),
                watchers=self.watchers,
                metadata=plain_object(self.metadata, "metadata"),
            ),
            MessageReceived(
                at=now,
                text=self.text,
                sender=self.by,
                others=self.others,
                attachments=self.attachments,
            ),
        ]

    def address(self, thread: ThreadId) -> str:
        """Give where the thread's answers go."""
        return self.origin or f"web:{thread}"
