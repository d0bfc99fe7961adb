"""The in-memory twin: the same behaviour without a database, for tests and for trying things out.

It keeps JSON text where the others do, so nothing passes here that a database would refuse.
"""

from storage.memory.store import MemoryStore
from storage.memory.tables import MemoryTables

__all__ = ["MemoryStore", "MemoryTables"]
