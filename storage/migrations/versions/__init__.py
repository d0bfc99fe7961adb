"""The revisions, oldest first, and whether the code fits one. A new one adds its name at the end.

The version of a database stands in Alembic's own table. A store reads it by a plain SELECT when it
opens, and needs nothing of Alembic for that.
"""

from __future__ import annotations

from storage.errors import SchemaTooNew, SchemaTooOld

REVISIONS = ("0001", "0002", "0003", "0004", "0005")
HEAD = REVISIONS[-1]


def check_version(version: str | None) -> None:
    """Raise SchemaTooOld or SchemaTooNew unless this is the version that the code needs."""
    if version == HEAD:
        return
    if version is None:
        raise SchemaTooOld("the database has no tables yet: run `parley db upgrade`")
    if version in REVISIONS:
        raise SchemaTooOld(
            f"the database has schema {version}, this code needs {HEAD}: run `parley db upgrade`"
        )
    raise SchemaTooNew(
        f"the database has schema {version}, this code knows up to {HEAD}: "
        "newer code has been here; run that version or a later one"
    )
