"""Tools: functions that a model may choose, how they ask people, and what they are told.

`tool` is the decorator, `signature` its schema, `context` what a running tool holds in its
hands, `contact_human` the one tool that we bring. Nothing here runs a tool: the loop does.
"""
