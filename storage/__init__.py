"""What lasts: tables, the thread log, the inbox and the outbox.

Nothing lives here yet. What comes may know `agent_core`; it must not know a channel or the
gateway.
"""
