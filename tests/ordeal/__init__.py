"""An ordeal: real processes under load, and everything around them fails, on purpose, in turn."""
