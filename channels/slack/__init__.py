"""Slack. So far its double: the channel itself follows.

Slack's libraries are known here and nowhere else.
"""
