"""The audit: who was asked, by which way, who answered, and what ran; and that none of it changed.

A view of the log, and no second truth. `storage.seals` makes changes visible; here are the key, the
lines that are exported, and checking both. docs/audit.md says what is protected and what is not.
"""
