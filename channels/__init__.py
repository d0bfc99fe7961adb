"""Where people are: one folder each for Slack, email and webhooks.

A channel verifies, parses, renders and sends. It may know `agent_core`;
it must not know another channel, the storage or the gateway, and it never runs an agent.
"""
