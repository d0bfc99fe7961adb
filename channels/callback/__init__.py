"""Callbacks: what a thread asks and how it ends, as signed webhooks; and the answers to them.

An address is `callback:URL`, chosen by whoever launched the thread or by the operator, never by a
model or a sender. What goes out is Standard Webhooks, and never to an address inside.
"""
