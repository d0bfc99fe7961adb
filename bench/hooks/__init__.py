"""Webhooks: requests a second to a durable acknowledgement, beside bare aiohttp.

`python -m bench.hooks` runs it; `README.md` beside this file says what is measured.
"""
