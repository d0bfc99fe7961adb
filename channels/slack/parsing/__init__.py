"""What Slack's payloads mean: a dict goes in, a value comes out. Pure: no calls, no clock.

Nothing here trusts that a field is there or has its type: what can't be read is not for us.
"""
