"""What can go wrong between us and PostgreSQL, and which of our errors says so.

The tables go by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html): the
whole code where it matters, else its class, the first two letters.
"""

from __future__ import annotations

from collections.abc import Callable

from storage.errors import (
    BadStoreUrl,
    PooledByTransaction,
    SchemaTooOld,
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)

_UNIQUE = "23505"
_NOT_NULL = "23502"
"""How the statement of commits refuses to overwrite a row that is another's."""

_WITHOUT_EFFECT = frozenset({"40", "53", "57014", "57P03"})
"""The server said itself that it did nothing: rolled back, no resources, too long, not ready."""

_PASSING = frozenset({"08", "40", "53300", "57P01", "57P02", "57P03", "57P05"})
"""The same request may pass in a moment. 57P01 may come after the commit, before its answer."""

_ERRORS: dict[str, tuple[Callable[[str], Exception], str]] = {
    "08": (StoreUnreachable, "the connection to PostgreSQL is lost"),
    "22": (ValueError, "PostgreSQL has no room for such a value"),
    "25006": (StoreReadOnly, "PostgreSQL takes no writes: a standby, or set to read-only"),
    "26000": (PooledByTransaction, ""),
    "28": (BadStoreUrl, "PostgreSQL refuses the user or password in PARLEY_DATABASE_URL"),
    "3D000": (BadStoreUrl, "PostgreSQL has no database of the name in PARLEY_DATABASE_URL"),
    "40": (StoreBusy, "PostgreSQL could not order this among other writes"),
    "42501": (StoreReadOnly, "the user in PARLEY_DATABASE_URL may not use the tables"),
    "42P05": (PooledByTransaction, ""),
    "42703": (SchemaTooOld, "the tables are of an older version: run `parley db upgrade`"),
    "42P01": (SchemaTooOld, "the database has no tables: run `parley db upgrade`"),
    "53100": (StoreFull, "PostgreSQL has no room left on its disk"),
    "53300": (StoreBusy, "PostgreSQL takes no more connections"),
    "53": (StoreBusy, "PostgreSQL is out of resources"),
    "54": (ValueError, "a name or key is longer than an index of PostgreSQL takes"),
    "57014": (StoreBusy, "PostgreSQL took too long and was stopped"),
    "57": (StoreUnreachable, "PostgreSQL is stopping or starting"),
}


class Failure(Exception):
    """A call that failed: the error to raise, and whether another try makes sense."""

    def __init__(self, error: Exception, *, is_passing: bool, is_without_effect: bool) -> None:
        """Judge a failure."""
        super().__init__(str(error))
        self.error = error
        self.is_passing = is_passing
        self.is_without_effect = is_without_effect
        self.is_of_server = isinstance(error, StoreReadOnly)
        self.is_of_connection = isinstance(error, StoreUnreachable)


class Clash(Exception):
    """A row was there already: nothing was written."""

    def __init__(self, table: str) -> None:
        """Name the table."""
        super().__init__(table)
        self.table = table


def failure_of(exc: Exception, *, before_sending: bool = False) -> Failure:
    """Translate an exception of the driver; what is our own mistake stays as it is."""
    code = str(getattr(exc, "sqlstate", None) or "")
    if code in {_NOT_NULL, _UNIQUE}:
        clash = Clash(str(getattr(exc, "table_name", "")))
        return Failure(clash, is_passing=False, is_without_effect=True)
    if code:
        return Failure(
            _error(code, exc),
            is_passing=_is_in(code, _PASSING),
            is_without_effect=before_sending or _is_in(code, _WITHOUT_EFFECT),
        )
    if type(exc).__name__ == "ClientConfigurationError":
        bad = BadStoreUrl(f"PARLEY_DATABASE_URL is not one of PostgreSQL: {exc}")
        return Failure(bad, is_passing=False, is_without_effect=True)
    if _is_about_the_connection(exc):
        lost = StoreUnreachable(f"PostgreSQL can't be reached: {str(exc) or type(exc).__name__}")
        unsent = before_sending or _is_before_sending(exc)
        return Failure(lost, is_passing=True, is_without_effect=unsent)
    return Failure(exc, is_passing=False, is_without_effect=True)


def _error(code: str, exc: Exception) -> Exception:
    known = _ERRORS.get(code) or _ERRORS.get(code[:2])
    if known is None:
        return exc
    make, words = known
    return make(f"{words} ({exc})")


def _is_in(code: str, codes: frozenset[str]) -> bool:
    return code in codes or code[:2] in codes


def _is_about_the_connection(exc: Exception) -> bool:
    """Tell a broken connection from a mistake; asyncpg's InterfaceError may be either."""
    if isinstance(exc, (OSError, EOFError)) or _is_before_sending(exc):
        return True
    name = type(exc).__name__
    return name == "TargetServerAttributeNotMatched" or (
        name == "InterfaceError" and "clos" in str(exc)
    )


def _is_before_sending(exc: Exception) -> bool:
    """The server said goodbye while nobody asked it anything, and asyncpg saw that just in time."""
    return type(exc).__name__ == "InternalClientError" and "cannot switch to state" in str(exc)
