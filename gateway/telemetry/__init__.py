"""What the operator sees of a server that runs: `logs`, `figures`, and whether channels are there.

What a line may show is decided in one place, `redaction`. Nothing here changes what the gateway
does.
"""
