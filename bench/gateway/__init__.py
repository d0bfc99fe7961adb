"""The durable gateway beside its peers and floors: cycles, growth, intake, waiting and start.

`python -m bench.gateway` runs all of it; `README.md` beside this file says what each figure is.
"""
