"""The inbox: how fast pages open, what they weigh, and how many can look at once."""
