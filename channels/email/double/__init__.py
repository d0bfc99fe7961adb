"""A mail server on loopback: what our own talks to when there is no other, over real sockets.

Tests and the playground use it, so it ships in the source. It knows nothing of Parley: whatever
speaks SMTP can talk to it. It must stay on loopback: it believes whoever writes by its own hand.
"""

from __future__ import annotations

from channels.email.double.letters import Letter, reply, write
from channels.email.double.post_office import Errand, PostOffice

__all__ = ["Errand", "Letter", "PostOffice", "reply", "write"]
