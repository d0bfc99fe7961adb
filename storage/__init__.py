"""What lasts: tables, the thread log, the inbox and the outbox.

`storage.store` is the protocol, `storage.urls.open_store` picks one of the stores that keep it:
SQLite for one machine, PostgreSQL for many, and a twin in memory. What lives here may know
`agent_core`; it must not know a channel or the gateway. Nothing is imported here, so that a program
pays only for the store that it uses.
"""
