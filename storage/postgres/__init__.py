"""PostgreSQL: the store for many processes and machines."""

from storage.postgres.driver import Tuning
from storage.postgres.store import PostgresStore

__all__ = ["PostgresStore", "Tuning"]
