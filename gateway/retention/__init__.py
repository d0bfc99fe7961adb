"""Letting go: threads that ended long ago, and people who want to be forgotten.

What each means for a log is decided by pure functions; the rest reads, writes one thread at a time,
and may be killed and begun again at any moment. docs/retention.md says what goes and what stays.
"""
