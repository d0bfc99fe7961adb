"""The agent as its author and its caller see it: define one, run it, resume it."""
