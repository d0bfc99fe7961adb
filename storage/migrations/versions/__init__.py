"""The revisions, oldest first, and whether the code fits one. A new one adds its name at the end.

The version of a database stands in Alembic's own table. A store reads it by a plain SELECT when it
opens, and needs nothing of Alembic for that.
"""

from __future__ import annotations

from storage.errors import HalfCopied, SchemaTooNew, SchemaTooOld

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0009")
HEAD = REVISIONS[-1]
COPYING = f"copying {HEAD}"
"""In place of the version while `parley db copy` fills a database: no code opens it, old or new."""

SERVES = "0005"
"""The oldest code, by the newest revision it knows, that works on tables of HEAD: a revision that
only adds leaves it as it is. It stands in the database, so that code that is older than the tables
knows whether it may go on: in a rolling restart it must."""
SERVES_NAME = "schema serves"
"""Under this name, among the settings."""


def check_version(version: str | None, serves: str | None = None) -> None:
    """Raise SchemaTooOld or SchemaTooNew unless the code works on tables of this version."""
    if version == HEAD:
        return
    if version is None:
        raise SchemaTooOld("the database has no tables yet: run `parley db upgrade`")
    if version in REVISIONS:
        raise SchemaTooOld(
            f"the database has schema {version}, this code needs {HEAD}: run `parley db upgrade`"
        )
    if version.startswith("copying "):
        raise HalfCopied(
            "an installation is being copied into this database, and is not whole yet: run "
            "`parley db copy` to its end"
        )
    if serves is None or serves > HEAD:
        raise SchemaTooNew(
            f"the database has schema {version}, this code knows up to {HEAD}: "
            "newer code has been here; run that version or a later one"
        )
