"""When a thread has grown too long for a model: what to summarise, and what to keep. Pure.

The log keeps everything; compaction only changes what the model is shown. The cut never
parts a call from its result, because it falls between entries, and a reply is one entry with
all its results.
"""

from __future__ import annotations

import msgspec

from agent_core.context.chat import ChatMessage, render_chat
from agent_core.errors import DefinitionError
from agent_core.thread.events import ContextCompacted, MessageReceived, ModelReplied
from agent_core.thread.state import ThreadState

SUMMARISE = (
    "Summarise the conversation above for yourself, so that you can go on with nothing but your "
    "summary and the latest messages. Keep what people asked for, decided and refused, what the "
    "tools did, with ids, figures and names, and what is still open. Write plain prose."
)
_CHARACTERS_PER_TOKEN = 4


class Compaction(msgspec.Struct, frozen=True):
    """When to summarise (by tokens or by messages), and how many messages to keep as they are."""

    after_tokens: int | None = 100_000
    after_messages: int | None = None
    keep: int = 20

    def __post_init__(self) -> None:
        """Refuse a plan that would compact for ever."""
        if self.keep < 1:
            raise DefinitionError(f"keep is at least 1 message, not {self.keep}")
        if self.after_messages is not None and self.after_messages <= self.keep:
            raise DefinitionError("after_messages must be more than keep")


def cut(state: ThreadState, plan: Compaction) -> int | None:
    """Find the last event to summarise, or nothing if the thread is short enough."""
    if len(state.entries) <= plan.keep or not _too_long(state, plan):
        return None
    kept = len(state.entries) - plan.keep
    # A message that came while the model was thinking stands after its reply, but has a lower
    # number: the cut goes back to where all that is kept is also newer.
    while kept and _newest(state, kept) > min(seq for seq, _ in state.entries[kept:]):
        kept -= 1
    if kept == 0 or (kept == 1 and isinstance(state.entries[0][1], ContextCompacted)):
        return None  # nothing but the summary is left to summarise
    return _newest(state, kept)


def render_for_summary(state: ThreadState, through: int, instructions: str) -> list[ChatMessage]:
    """Write the part that goes, and ask for its summary."""
    old = state.copy()
    old.entries = [entry for entry in state.entries if entry[0] <= through]
    return [*render_chat(old, instructions), {"role": "user", "content": SUMMARISE}]


def _newest(state: ThreadState, count: int) -> int:
    return max(seq for seq, _ in state.entries[:count])


def _too_long(state: ThreadState, plan: Compaction) -> bool:
    if plan.after_messages is not None and len(state.entries) > plan.after_messages:
        return True
    return plan.after_tokens is not None and _tokens(state) > plan.after_tokens


def _tokens(state: ThreadState) -> int:
    """Take the server's own count where there is one, or guess from the text."""
    if state.last_input_tokens:
        return state.last_input_tokens
    size = 0
    for _, entry in state.entries:
        match entry:
            case MessageReceived(text=text) | ContextCompacted(summary=text):
                size += len(text)
            case ModelReplied():
                size += len(entry.text) + sum(len(str(one.arguments)) for one in entry.calls)
    results = (call.result.value for call in state.calls.values() if call.result)
    return (size + sum(len(str(value)) for value in results)) // _CHARACTERS_PER_TOKEN
