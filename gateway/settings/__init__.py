"""What the operator says: the environment, `.env` and `parley.toml`, read once at the start.

`environment` has the settings of the program; those of one channel stand in files of their own
(`channel_settings`, `email_settings`, `callback_settings`), on the rules that all share. `config`
is `parley.toml`, with `hours`; `email_options`, `hooks` and `agents` are what comes of both.
Nothing here opens a store or knows a thread.
"""
