"""What the parts of one process tell each other past the store: hints, threads by hand, states.

It makes things quick and is never the truth. Whatever is lost here is found again in the store, a
little later; so nothing here may decide, and nobody may rely on it for more than time.
"""
