"""The schema and its versions: Alembic, configured here and by no file of the user's.

On SQLite a store migrates when it opens; on PostgreSQL only `parley db upgrade` does. Importing
this package is cheap; `storage.migrations.upgrades` brings Alembic and SQLAlchemy, half a second.
"""
