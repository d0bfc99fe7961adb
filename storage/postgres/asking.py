"""Asking the database: what does no harm the second time, and text that no row can hold."""

from __future__ import annotations

from storage.postgres.driver import Driver, Row
from storage.texts import is_storable


class Asking:
    """Who has a driver, and reads by it."""

    def __init__(self, driver: Driver) -> None:
        """Take the driver."""
        self._driver = driver

    async def _find(self, sql: str, *arguments: object) -> list[Row]:
        """Read; text that no row can hold finds nothing."""
        if not all(is_storable(word) for word in arguments if isinstance(word, str)):
            return []
        return await self._again(sql, *arguments)

    async def _again(self, sql: str, *arguments: object) -> list[Row]:
        """Run a statement that does no harm the second time."""
        return await self._driver.fetch(sql, *arguments, again=True)
