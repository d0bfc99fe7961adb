"""Slack's door beside Bolt's own: `python -m bench.slack`; `README.md` says what is measured."""
