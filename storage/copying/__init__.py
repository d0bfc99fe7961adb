"""Moving up: all that an SQLite file holds, taken over into a PostgreSQL database.

One idea serves for copying, for going on after a kill, for catching up with a server that ran on
meanwhile, and for the proof at the end: *compare, and put right what differs*. Each table is cut
into groups of rows (a thread's events; else a single row), each group has a digest on either side,
and a group whose digests differ is replaced. When no group differs, it is done, and proven.

What may run where is said by marks (`source`, `target`): never both sides.
"""
